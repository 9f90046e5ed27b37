// SPDX-License-Identifier: Apache-2.0
#include "bench/coordinator/commands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/coordinator/programs.hpp"
#include "bench/options.hpp"
#include "bench/processes.hpp"
#include "bench/statistics.hpp"
#include "bench/turns.hpp"
#include "platform/program.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

namespace fs = std::filesystem;

bool is_found(std::string const& word) {
  return nigh::platform::is_runnable(nigh::platform::find_program(word));
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

std::vector<UserCommand> user_commands(std::string const& argument,
                                       std::vector<std::string> const& texts) {
  std::vector<UserCommand> commands;
  for (std::string const& text : texts) commands.push_back(user_command(argument, text));
  return commands;
}

std::vector<UserCommand> user_commands(std::vector<std::string> const& texts,
                                       std::string const& file) {
  auto commands = user_commands("--command", texts);
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

namespace {

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  auto const before = text.rfind('\n');
  return before == text.npos ? text : text.substr(before + 1);
}

// The number of leases granted so far, as `nigh status --json` reports it for the host.
double leases_of(std::string const& socket) {
  auto const ended =
      run_together({{{nigh_command(), "status", "--json"}, {{"NIGH_SOCKET", socket}}}}).front();
  constexpr std::string_view key = "\"grants\":";
  auto const at = ended.output.find(key);
  return at == std::string::npos ? 0 : std::strtod(ended.output.c_str() + at + key.size(), nullptr);
}

std::map<std::string, std::string> of_the_program(CommandWay const& way) {
  auto all = way.environment;
  std::erase_if(all, [](auto const& setting) { return setting.first.starts_with("NIGH_"); });
  return all;
}

class CommandRunner {
 public:
  explicit CommandRunner(CommandOptions const& options)
      : options_(options), hash_(options.ignored) {}

  void sample(CommandCell& cell) const {
    std::optional<Daemon> daemon;
    if (cell.way.has_nigh()) daemon.emplace("clustered-adjusting");
    std::vector<Command> commands;
    for (std::size_t i = 0; i < options_.commands.size(); ++i)
      if (cell.alone.value_or(i) == i)
        commands.push_back(command(options_.commands[i], cell.way, daemon));
    std::vector<Companion> beside;
    for (UserCommand const& other : options_.beside) beside.emplace_back(Command{other.words, {}});
    auto const grants = nigh::platform::CgroupReader().grants_to_this_process();
    auto const before = nigh::platform::throttling_of(grants);
    auto const all = run(commands, cell.way.is_in_turn);
    auto const after = nigh::platform::throttling_of(grants);
    beside.clear();
    if (daemon) cell.leases.push_back(leases_of(daemon->socket()));
    if (before && after) {
      auto& sum = cell.throttling ? *cell.throttling : cell.throttling.emplace();
      sum.periods += after->periods - before->periods;
      sum.throttled += after->throttled - before->throttled;
    }
    cell.outcomes.resize(all.size());
    double last = 0, cpu = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
      last = std::max(last, all[n].seconds);
      cpu += all[n].cpu_seconds;
      CommandOutcome& outcome = cell.outcomes[n];
      outcome.hashes.push_back(hash_(all[n].output));
      if (outcome.status != 0 || all[n].status == 0) continue;
      outcome.status = all[n].status;
      outcome.complaint = last_line(all[n].errors);
    }
    cell.seconds.push_back(last);
    cell.cpu_seconds.push_back(cpu);
  }

 private:
  static Command command(UserCommand const& user, CommandWay const& way,
                         std::optional<Daemon> const& daemon) {
    Command command{user.words, way.environment};
    if (daemon) {
      std::vector<std::string> const around{nigh_command(), "run", "--"};
      command.words.insert(command.words.begin(), around.begin(), around.end());
      command.environment["NIGH_SOCKET"] = daemon->socket();
    }
    return command;
  }

  std::vector<Ended> run(std::vector<Command> const& commands, bool is_in_turn) const {
    auto const limit = static_cast<double>(options_.limit_seconds);
    if (!is_in_turn) return run_together(commands, limit);
    std::vector<Ended> all;
    double begun = 0;
    for (Command const& command : commands) {
      all.push_back(run_together({command}, limit).front());
      begun = all.back().seconds += begun;
    }
    return all;
  }

  CommandOptions const& options_;
  OutputHash hash_;
};

}  // namespace

std::optional<std::uint64_t> CommandStudy::plain_output(std::size_t i,
                                                        CommandWay const& way) const {
  auto const environment = of_the_program(way);
  std::vector<std::uint64_t> all;
  for (CommandCell const& cell : cells) {
    if (cell.way.has_nigh() || cell.way.environment != environment || cell.alone.value_or(i) != i)
      continue;
    std::size_t const nth = cell.alone ? 0 : i;
    if (nth >= cell.outcomes.size()) continue;
    auto const& hashes = cell.outcomes[nth].hashes;
    all.insert(all.end(), hashes.begin(), hashes.end());
  }
  if (all.size() < 2 || std::any_of(all.begin(), all.end(), [&](auto h) { return h != all[0]; }))
    return {};
  return all[0];
}

Output CommandStudy::output(CommandCell const& cell, std::size_t nth) const {
  std::size_t const command = cell.alone.value_or(nth);
  bool const is_judged = cell.way.has_nigh();
  auto const expected = plain_output(command, is_judged ? cell.way : CommandWay{"default"});
  if (!expected) return Output::varies;
  auto const& hashes = cell.outcomes[nth].hashes;
  if (std::all_of(hashes.begin(), hashes.end(), [&](auto h) { return h == *expected; }))
    return Output::same;
  return is_judged ? Output::differs : Output::other;
}

bool CommandStudy::is_right(CommandCell const& cell) const {
  for (std::size_t n = 0; n < cell.outcomes.size(); ++n)
    if (cell.outcomes[n].status != 0 || output(cell, n) == Output::differs) return false;
  return true;
}

CommandCell const& CommandStudy::best_plain() const {
  CommandCell const* best = nullptr;
  for (CommandCell const& cell : cells)
    if (!cell.alone && !cell.way.has_nigh() &&
        (best == nullptr || median_of(cell.seconds) < median_of(best->seconds)))
      best = &cell;
  return *best;
}

CommandCell const* CommandStudy::plain_alone(std::size_t i) const {
  auto const found = std::find_if(cells.begin(), cells.end(), [&](CommandCell const& cell) {
    return cell.alone == i && !cell.way.has_nigh();
  });
  return found == cells.end() ? nullptr : &*found;
}

CommandStudy study_commands(CommandOptions const& o) {
  CommandStudy study{o, {}};
  std::string const absent = Daemon::why_absent();
  auto const add = [&](CommandWay const& way, std::optional<std::size_t> alone) {
    study.cells.push_back({way, alone});
    if (way.has_nigh()) study.cells.back().absent = absent;
  };
  for (CommandWay const& way : o.ways) add(way, {});
  for (std::size_t i = 0; o.alone && i < o.commands.size(); ++i) {
    add({"default"}, i);
    add({"nigh"}, i);
  }
  CommandRunner const runner(o);
  std::size_t const count = study.cells.size();
  nigh::platform::Progress progress(static_cast<int>(o.repetitions) * static_cast<int>(count));
  for (long repetition = 0; repetition < o.repetitions; ++repetition)
    for (std::size_t n = 0; n < count; ++n) {
      CommandCell& cell = study.cells[way_at(n, static_cast<std::size_t>(repetition), count)];
      progress.step(cell.way.name);
      if (cell.absent.empty()) runner.sample(cell);
    }
  return study;
}

}  // namespace bench
