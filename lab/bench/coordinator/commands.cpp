// SPDX-License-Identifier: Apache-2.0
#include "bench/coordinator/commands.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/command.hpp"
#include "bench/options.hpp"

namespace bench {

namespace {

namespace fs = std::filesystem;

bool is_program(fs::path const& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

bool is_found(std::string const& word) {
  if (word.find('/') != word.npos) return is_program(word);
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_program(fs::path(folder.empty() ? "." : folder) / word)) return true;
  return false;
}

UserCommand user_command(std::string const& argument, std::string const& text) {
  UserCommand command{text, shell_words(argument, text)};
  if (command.words.empty() || command.words.front().empty())
    throw UsageError(argument + ": an empty command");
  if (!is_found(command.words.front())) refuse(argument, command.words.front(), "is no program");
  return command;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// As shells and environments have them.
bool is_variable(std::string const& name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

CommandWay way_of(std::string const& text) {
  auto const wrong = [&] {
    refuse("--way", text, "is not NAME=VARIABLE=VALUE[,VARIABLE=VALUE...]");
  };
  auto const name_end = text.find('=');
  if (name_end == text.npos || name_end == 0) wrong();
  CommandWay way{text.substr(0, name_end)};
  for (std::string const& setting : words_of("--way", text.substr(name_end + 1))) {
    auto const equals = setting.find('=');
    if (equals == setting.npos || !is_variable(setting.substr(0, equals))) wrong();
    way.environment[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return way;
}

}  // namespace

std::vector<std::string> shell_words(std::string const& argument, std::string const& text) {
  std::vector<std::string> words;
  char quote = 0;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (quote == 0 && is_blank(c)) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    bool const is_last = i + 1 == text.size();
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote && quote != 0) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && !is_last &&
               (quote == 0 || std::strchr("\"\\$`", text[i + 1]) != nullptr)) {
      words.back() += text[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) refuse(argument, text, fmt::format("has a {} that is not closed", quote));
  return words;
}

std::vector<UserCommand> user_commands(std::vector<std::string> const& texts,
                                       std::string const& file) {
  std::vector<UserCommand> commands;
  for (std::string const& text : texts) commands.push_back(user_command("--command", text));
  if (file.empty()) return commands;
  std::error_code ignored;
  std::ifstream in(file);
  if (!in || fs::is_directory(file, ignored))
    throw UsageError(
        fmt::format("--commands: cannot read {}: {}", file, std::strerror(in ? EISDIR : errno)));
  long number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    auto const begin = std::find_if_not(line.begin(), line.end(), is_blank);
    if (begin == line.end() || *begin == '#') continue;
    commands.push_back(user_command(fmt::format("--commands: {}:{}", file, number), line));
  }
  if (commands.size() == texts.size()) throw UsageError("--commands: no command in " + file);
  return commands;
}

std::vector<CommandWay> command_ways(std::vector<std::string> const& more) {
  std::vector<CommandWay> ways{{"default"},
                               {"sequential", {}, true},
                               {"one-thread", {{"OMP_NUM_THREADS", "1"}}},
                               {"passive", {{"OMP_WAIT_POLICY", "passive"}}},
                               {"nigh"}};
  for (std::string const& text : more) {
    CommandWay way = way_of(text);
    for (CommandWay const& other : ways)
      if (other.name == way.name) refuse("--way", way.name, "is the name of another way");
    ways.push_back(std::move(way));
  }
  return ways;
}

OutputHash::OutputHash(std::vector<std::string> const& ignored) {
  for (std::string const& text : ignored) {
    auto* const compiled = new regex_t;
    int const error = regcomp(compiled, text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
      char why[200];
      regerror(error, compiled, why, sizeof why);
      delete compiled;  // there is nothing in it to free
      refuse("--ignore", text, fmt::format("is no regular expression: {}", why));
    }
    ignored_.emplace_back(compiled);
  }
}

// FNV-1a of 64 bits.
std::uint64_t OutputHash::operator()(std::string const& output) const {
  std::uint64_t hash = 0xcbf29ce484222325;
  auto const add = [&](std::string const& text) {
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  if (ignored_.empty()) {
    add(output);
    return hash;
  }
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);)
    if (std::none_of(ignored_.begin(), ignored_.end(), [&](auto const& r) {
          return regexec(r.get(), line.c_str(), 0, nullptr, 0) == 0;
        }))
      add(line + '\n');
  return hash;
}

}  // namespace bench
