// SPDX-License-Identifier: Apache-2.0
// nigh: one command, a subcommand for each thing a person may want.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nigh/version.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/help_format.hpp"
#include "cli/command_words.hpp"
#include "cli/commands.hpp"
#include "cli/installed_files.hpp"
#include "cli/program_words.hpp"
#include "platform/program.hpp"
#include "platform/unknown_variables.hpp"

namespace {

// nigh trace --merge: opens files, as nigh report does without "--".
bool merges(std::vector<std::string> const& words) {
  auto const own_end = std::find(words.begin(), words.end(), "--");
  return words.front() == "trace" && std::find(words.begin(), own_end, "--merge") != own_end;
}

// Commands whose words end with a program and its arguments.
bool runs_a_program(std::vector<std::string> const& words) {
  if (words.empty()) return false;
  if (words.front() == "run" || words.front() == "tune") return true;
  if (words.front() == "trace") return !merges(words);
  if (words.front() == "report")
    return std::find(words.begin(), words.end(), "--") != words.end();  // otherwise it opens files
  constexpr std::array others{"show", "set", "forget"};
  return words.front() == "profile" &&
         (words.size() < 2 || std::find(others.begin(), others.end(), words[1]) == others.end());
}

// Commands that end with the status of the program that they run.
bool ends_as_a_program(std::vector<std::string> const& words) {
  if (words.empty()) return false;
  return words.front() == "run" || (words.front() == "trace" && !merges(words)) ||
         (words.front() == "report" && runs_a_program(words));
}

// nigh help nighd: becomes the program of that name, whose help is asked for.
void become_help_of_program(std::vector<std::string> const& words) {
  constexpr std::array programs{"nighd", "numa-vm"};
  if (words.size() < 2 || words.front() != "help" ||
      std::find(programs.begin(), programs.end(), words[1]) == programs.end())
    return;
  auto const program = nigh::cli::program_file(words[1]);
  if (!nigh::platform::is_runnable(program))
    throw nigh::cli::UsageError("help: " + words[1] + " is not here; " +
                                nigh::cli::who_has_more + "it");
  throw std::runtime_error(nigh::platform::become(program, {"--help"}).message);
}

}  // namespace

int main(int argc, char** argv) {
  nigh::platform::name_unknown_variables_for_all();
  CLI::App app{"nigh runs parallel work near its data"};
  app.name("nigh");
  app.formatter(std::make_shared<nigh::base::HelpFormat>());
  app.set_version_flag("--version", std::string("nigh ") + nigh::version());
  std::vector<std::string> program;  // for the commands that run one
  app.require_subcommand(0, 1);      // asked for below, after an unknown word was complained about
  nigh::cli::add_topo(app);
  nigh::cli::add_run(app, program);
  nigh::cli::add_tune(app, program);
  nigh::cli::add_profile(app, program);
  nigh::cli::add_report(app, program);
  nigh::cli::add_bench(app);
  nigh::cli::add_sim(app);
  nigh::cli::add_trace(app, program);
  nigh::cli::add_doctor(app);
  nigh::cli::add_status(app);
  nigh::cli::add_top(app);
  nigh::cli::add_completion(app);
  app.add_subcommand("help", "Show what a command takes: nigh help COMMAND");
  app.add_subcommand("version", "Show nigh's version, as --version does")->callback([&app] {
    std::printf("%s\n", app.version().c_str());
  });
  std::vector<std::string> const given(argv + 1, argv + argc);
  auto const codes = ends_as_a_program(given) ? nigh::cli::as_env_fails : nigh::cli::FailureCodes{};
  auto const body = [&] {
    auto words = given;
    become_help_of_program(words);
    nigh::cli::turn_help(app, words);
    nigh::cli::check_command(app, words);
    if (runs_a_program(words)) {
      auto const command = words.front();
      words.erase(words.begin());
      program = nigh::cli::cut_program(*app.get_subcommand(command), words);
      words.insert(words.begin(), command);
    } else if (!words.empty() && (words.front() == "report" || merges(words))) {
      nigh::cli::keep_brackets(*app.get_subcommand(words.front()), words);
    }
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(std::move(words));
    if (app.get_subcommands().empty())
      throw nigh::cli::UsageError("which command? nigh help lists them");
  };
  return nigh::cli::run_app(app, body, codes);
}
