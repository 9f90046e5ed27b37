// SPDX-License-Identifier: Apache-2.0
#include "cli/command_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/nearest_name.hpp"
#include "base/option_words.hpp"
#include "cli/program_main.hpp"

namespace nigh::cli {
namespace {

// "profile show " of that command; empty for the program itself.
std::string path_of(CLI::App const& app) {
  if (app.get_parent() == nullptr) return {};
  return path_of(*app.get_parent()) + app.get_name() + ' ';
}

// "nigh help profile show lists them"
std::string where_listed(CLI::App const& app) {
  auto const* program = &app;
  while (program->get_parent() != nullptr) program = program->get_parent();
  return program->get_name() + " help " + path_of(app) + "lists them";
}

// "profile show: "
std::string said_by(CLI::App const& app) {
  auto where = path_of(app);
  if (where.empty()) return {};
  where.back() = ':';
  return where + ' ';
}

std::string no_command(CLI::App const& app, std::string const& word) {
  std::vector<std::string> names;
  for (auto const* command : app.get_subcommands({}))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  return said_by(app) + "no command '" + word + '\'' +
         base::did_you_mean(word, names, where_listed(app));
}

std::string no_option(CLI::App const& app, std::string const& word) {
  return said_by(app) + base::no_option(app, word, where_listed(app));
}

CLI::App const* find_command(CLI::App const& app, std::string const& word) {
  auto const found = app.get_subcommands([&](CLI::App const* c) { return c->get_name() == word; });
  return found.empty() ? nullptr : found.front();
}

bool is_option(std::string const& word) { return word.starts_with('-'); }

// Of those that the command could not use.
std::optional<std::string> first_left(CLI::App const& command) {
  auto const words = command.remaining();
  auto const first = std::find_if(words.begin(), words.end(), [](auto& w) { return w != "--"; });
  if (first == words.end()) return {};
  return *first;
}

}  // namespace

void turn_help(CLI::App const& app, std::vector<std::string>& words) {
  if (words.empty() || words.front() != "help") return;
  words.erase(words.begin());
  auto const* command = &app;
  for (auto const& word : words) {
    if (is_option(word) || command->get_prefix_command()) break;
    auto const* const inner = find_command(*command, word);
    if (inner == nullptr) throw UsageError(no_command(*command, word));
    command = inner;
  }
  words.emplace_back("--help");
}

void check_command(CLI::App const& app, std::vector<std::string> const& words) {
  if (words.empty() || is_option(words.front())) return;
  if (find_command(app, words.front()) == nullptr)
    throw UsageError(no_command(app, words.front()));
}

std::string unknown_word(CLI::App const& app) {
  // An unknown option first: the words behind it may have been taken for a program and its command.
  std::vector<CLI::App const*> commands{&app};
  while (!commands.back()->get_subcommands().empty())
    commands.push_back(commands.back()->get_subcommands().back());
  for (auto at = commands.rbegin(); at != commands.rend(); ++at) {
    auto const word = first_left(**at);
    if (word && base::is_option(*word)) return no_option(**at, *word);
  }
  for (auto const* command : commands) {
    if (command->remaining().empty()) continue;
    auto const word = first_left(*command);
    bool const has_commands = !command->get_subcommands({}).empty();
    return word && has_commands && !is_option(*word) ? no_command(*command, *word) : std::string();
  }
  return {};
}

}  // namespace nigh::cli
