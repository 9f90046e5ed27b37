// SPDX-License-Identifier: Apache-2.0
// Commands in several ways, as tables for people and as results for scripts.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "bench/coordinator/commands.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

std::string joined(std::vector<std::string> const& texts, char const* between) {
  std::string all;
  for (std::string const& text : texts) all += (all.empty() ? "" : between) + text;
  return all;
}

std::vector<std::string> texts_of(std::vector<UserCommand> const& commands) {
  std::vector<std::string> all;
  for (UserCommand const& command : commands) all.push_back(command.text);
  return all;
}

std::string shortened(std::string const& text) {
  constexpr std::size_t most = 60;
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string settings_of(CommandWay const& way) {
  std::vector<std::string> all;
  for (auto const& [name, value] : way.environment) all.push_back(name + '=' + value);
  return joined(all, ",");
}

std::string title_of(CommandWay const& way) {
  std::vector<std::string> what;
  if (way.is_in_turn) what.push_back("one after the other");
  if (way.has_nigh()) what.push_back("nigh run");
  if (!way.environment.empty()) what.push_back(settings_of(way));
  return way.name + ": " + (what.empty() ? "all at once" : joined(what, ", "));
}

std::string spread_of(std::vector<double> const& samples) {
  Statistics const s = statistics_of(samples);
  return s.median > 0 ? fmt::format("{:.0f}%", 100 * (s.max - s.min) / s.median) : "";
}

std::string hash_text(std::optional<std::uint64_t> hash) {
  return hash ? fmt::format("{:016x}", *hash) : "varies";
}

// "same", or how many of the commands are what.
std::string outputs_of(CommandStudy const& s, CommandCell const& cell) {
  constexpr std::array names{"same", "other", "varies", "DIFFER"};
  std::array<std::size_t, names.size()> counts{};
  for (std::size_t n = 0; n < cell.outcomes.size(); ++n)
    ++counts[static_cast<std::size_t>(s.output(cell, n))];
  std::vector<std::string> told;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (counts[k] == cell.outcomes.size()) return names[k];
    if (counts[k] > 0) told.push_back(fmt::format("{} {}", counts[k], names[k]));
  }
  return joined(told, ", ");
}

std::string throttling_of(CommandCell const& cell) {
  return cell.throttling
             ? fmt::format("{} of {}", cell.throttling->throttled, cell.throttling->periods)
             : "-";
}

std::string commands_table(CommandStudy const& s) {
  Table t;
  t.row({"command", "output"});
  t.rule();
  for (std::size_t i = 0; i < s.options.commands.size(); ++i)
    t.row({fmt::format("{}  {}", i + 1, shortened(s.options.commands[i].text)),
           hash_text(s.plain_output(i, {"default"}))});
  return t.text();
}

std::string ways_table(CommandStudy const& s) {
  bool const has_quota = std::any_of(s.cells.begin(), s.cells.end(),
                                     [](auto const& c) { return c.throttling.has_value(); });
  Table t;
  std::vector<std::string> head{"all of them", "seconds", "spread", "of best",
                                "cpu seconds", "leases",  "outputs"};
  if (has_quota) head.push_back("periods throttled");
  t.row(head);
  t.rule();
  CommandCell const& best = s.best_plain();
  for (CommandCell const& cell : s.cells) {
    if (cell.alone || !cell.absent.empty()) continue;
    std::vector<std::string> row{
        title_of(cell.way),
        fmt::format("{:.2f}", median_of(cell.seconds)),
        spread_of(cell.seconds),
        fmt::format("{:.2f}", median_of_ratios(cell.seconds, best.seconds)),
        fmt::format("{:.2f}", median_of(cell.cpu_seconds)),
        cell.way.has_nigh() ? fmt::format("{:.0f}", median_of(cell.leases)) : "",
        outputs_of(s, cell)};
    if (has_quota) row.push_back(throttling_of(cell));
    t.row(row);
  }
  return t.text();
}

std::string alone_table(CommandStudy const& s) {
  Table t;
  t.row({"each alone, seconds", "default", "spread", "nigh", "spread", "of default", "outputs"});
  t.rule();
  for (CommandCell const& cell : s.cells) {
    if (!cell.alone || !cell.way.has_nigh() || !cell.absent.empty()) continue;
    CommandCell const& plain = *s.plain_alone(*cell.alone);
    t.row({fmt::format("{}  {}", *cell.alone + 1, shortened(s.options.commands[*cell.alone].text)),
           fmt::format("{:.2f}", median_of(plain.seconds)), spread_of(plain.seconds),
           fmt::format("{:.2f}", median_of(cell.seconds)), spread_of(cell.seconds),
           fmt::format("{:.2f}", median_of_ratios(cell.seconds, plain.seconds)),
           outputs_of(s, cell)});
  }
  return t.text();
}

// Once for each way and command that has failed, and for each way that is absent.
std::string notes(CommandStudy const& s) {
  std::string text;
  for (CommandCell const& cell : s.cells) {
    if (!cell.alone && !cell.absent.empty())
      text += fmt::format("\nabsent: {}: {}\n", cell.way.name, cell.absent);
    for (std::size_t n = 0; n < cell.outcomes.size(); ++n)
      if (CommandOutcome const& outcome = cell.outcomes[n]; outcome.status != 0)
        text +=
            fmt::format("\nfailed: {}{}: command {}: exit status {}{}{}\n",
                        cell.alone ? "alone, " : "", cell.way.name, cell.alone.value_or(n) + 1,
                        outcome.status, outcome.complaint.empty() ? "" : ": ", outcome.complaint);
  }
  return text;
}

Result result_of(CommandStudy const& s, CommandCell const& cell) {
  std::vector<std::string> set = texts_of(s.options.commands);
  if (cell.alone) set = {set[*cell.alone]};
  Result r;
  r.bench = cell.alone ? "coordinator/command" : "coordinator/commands";
  r.variant = cell.way.name;
  r.params = {{"commands", static_cast<long>(set.size())},
              {"set", joined(set, "; ")},
              {"environment", settings_of(cell.way)}};
  if (!s.options.beside.empty()) r.params["beside"] = joined(texts_of(s.options.beside), "; ");
  r.metric = "total_time";
  r.unit = "s";
  r.absent = cell.absent;
  if (!cell.absent.empty()) return r;
  r.samples = cell.seconds;
  if (cell.way.has_nigh() || !s.is_right(cell)) r.verified = s.is_right(cell);
  CommandCell const& beside = cell.alone ? *s.plain_alone(*cell.alone) : s.best_plain();
  std::vector<std::string> hashes, codes;
  for (CommandOutcome const& outcome : cell.outcomes) {
    bool const agree = std::all_of(outcome.hashes.begin(), outcome.hashes.end(),
                                   [&](auto h) { return h == outcome.hashes[0]; });
    hashes.push_back(agree ? hash_text(outcome.hashes[0]) : "varies");
    codes.push_back(std::to_string(outcome.status));
  }
  r.counters = {
      {cell.alone ? "of_default" : "of_best", median_of_ratios(cell.seconds, beside.seconds)},
      {"cpu_s", median_of(cell.cpu_seconds)},
      {"outputs", outputs_of(s, cell)},
      {"hashes", joined(hashes, " ")},
      {"exit_codes", joined(codes, " ")},
      {"periods", nullptr},
      {"periods_throttled", nullptr}};
  if (!cell.alone) r.counters["best"] = beside.way.name;
  if (cell.throttling) {
    r.counters["periods"] = static_cast<long>(cell.throttling->periods);
    r.counters["periods_throttled"] = static_cast<long>(cell.throttling->throttled);
  }
  if (cell.way.has_nigh()) r.counters["leases"] = median_of(cell.leases);
  return r;
}

}  // namespace

std::string describe(CommandStudy const& s) {
  std::string beside;
  for (UserCommand const& other : s.options.beside)
    beside += fmt::format("beside, without nigh: {}\n", other.text);
  std::string text = fmt::format(
      "{} command{} on one host: seconds until the last has ended, median of {} samples, all ways\n"
      "in turn; of best: beside the best way without nigh ({}), median sample by sample;\n"
      "outputs: beside those without nigh and with the same variables\n{}\n{}\n{}",
      s.options.commands.size(), s.options.commands.size() == 1 ? "" : "s", s.options.repetitions,
      s.best_plain().way.name, beside, commands_table(s), ways_table(s));
  bool const is_nigh_here = std::any_of(s.cells.begin(), s.cells.end(), [](CommandCell const& c) {
    return c.way.has_nigh() && c.absent.empty();
  });
  if (s.options.alone && is_nigh_here) text += '\n' + alone_table(s);
  return text + notes(s);
}

std::vector<Result> results(CommandStudy const& s) {
  std::vector<Result> all;
  for (CommandCell const& cell : s.cells) all.push_back(result_of(s, cell));
  return all;
}

}  // namespace bench
