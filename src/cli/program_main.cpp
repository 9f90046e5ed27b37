// SPDX-License-Identifier: Apache-2.0
#include "cli/program_main.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>

#include "base/help_format.hpp"
#include "base/printable.hpp"
#include "cli/command_words.hpp"

namespace nigh::cli {
namespace {

// CLI11's messages may hold several lines; a user's mistake gets one.
int complain(std::string message, int code) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  for (char& c : message)
    if (c == '\n') c = ' ';
  std::fprintf(stderr, "nigh: %s\n", base::printable(message).c_str());
  return code;
}

}  // namespace

int run_app(CLI::App const& app, std::function<void()> const& body, FailureCodes codes) {
  try {
    body();
  } catch (CLI::ExtrasError const& e) {
    auto const unknown = unknown_word(app);
    return complain(unknown.empty() ? e.what() : unknown, codes.mistake);
  } catch (CLI::ParseError const& e) {
    bool const is_help = e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    if (!is_help) return complain(e.what(), codes.mistake);
    base::print_help(app, e);
  } catch (ExitStatus const& e) {
    return e.code;
  } catch (UsageError const& e) {
    return complain(e.what(), codes.mistake);
  } catch (std::exception const& e) {
    return complain(e.what(), codes.other);
  }
  if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return complain(std::string("cannot write standard output: ") + std::strerror(errno),
                    codes.mistake);
  return 0;
}

}  // namespace nigh::cli
