// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "platform/progress.hpp"
#include "platform/replaced_file.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void cannot_write(std::string const& file, std::string const& why) {
  throw UsageError("cannot write " + file + ": " + why);
}

bool fill(fs::path const& path, std::string_view text) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  return out.good();
}

// A file that its owner may not write is not to be replaced, either.
void check_not_protected(std::string const& file, fs::path const& target) {
  std::error_code failed;
  auto const may = fs::status(target, failed);
  if (failed || may.type() != fs::file_type::regular) return;
  if ((may.permissions() & fs::perms::owner_write) == fs::perms::none)
    cannot_write(file, "it is write-protected");
}

}  // namespace

std::filesystem::path target_of(std::string const& file) {
  constexpr int most_links = 40;  // as the kernel has it
  std::error_code failed;
  fs::path target = file;
  for (int i = 0; i < most_links && fs::is_symlink(target, failed); ++i)
    target = target.parent_path() / fs::read_symlink(target, failed);
  return target;
}

void check_output(std::string const& file) {
  if (file == "-" || platform::open_stream(file)) return;
  std::error_code failed;
  auto const target = target_of(file);
  if (fs::is_directory(target, failed)) cannot_write(file, "it is a directory");
  if (fs::exists(target, failed) && !fs::is_regular_file(target, failed)) return;
  check_not_protected(file, target);
  if (auto const part = platform::Replacement::beside(target); !part)
    cannot_write(file, part.message());
}

void write_output(std::string const& file, std::string_view text) {
  if (file == "-") {
    // Text from a file must not command the terminal that it is printed on.
    auto const shown = base::printable_lines(text);
    platform::Progress::make_way();
    if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() ||
        std::fflush(stdout) != 0)
      cannot_write("standard output", std::strerror(errno));
    return;
  }
  if (auto stream = platform::open_stream(file)) {
    std::fflush(stdout);
    errno = 0;
    std::fwrite(text.data(), 1, text.size(), stream.get());
    if (!platform::is_closed_well(std::move(stream))) cannot_write(file, std::strerror(errno));
    return;
  }
  std::error_code failed;
  auto const target = target_of(file);
  if (fs::is_directory(target, failed)) cannot_write(file, "it is a directory");
  if (fs::exists(target, failed) && !fs::is_regular_file(target, failed)) {
    if (!fill(target, text)) cannot_write(file, std::strerror(errno));
    return;
  }
  check_not_protected(file, target);
  auto part = platform::Replacement::beside(target);
  if (!part) cannot_write(file, part.message());
  std::fwrite(text.data(), 1, text.size(), part->file());
  if (auto const done = part->put_in_place(); !done) cannot_write(file, done.message());
}

void say(std::string_view command, std::string_view what) {
  platform::Progress::make_way();
  auto const line = fmt::format("nigh: {}: {}\n", command, base::printable_lines(what));
  std::fputs(line.c_str(), stderr);  // what was found is not lost because nobody can read this
}

}  // namespace nigh::cli
