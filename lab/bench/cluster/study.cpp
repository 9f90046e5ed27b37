// SPDX-License-Identifier: Apache-2.0
// The study as tables for people, and as results for scripts.

#include "bench/cluster/study.hpp"

#include <fmt/core.h>

#include <sstream>
#include <stdexcept>

#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

constexpr double limit_seconds = 600;  // for one job

std::vector<ClusterCell> cells_of(ClusterProblem const& problem, ClusterOptions const& o) {
  std::vector<ClusterCell> cells(2);
  cells[1].workers = o.ranks;
  std::vector<StealPolicy> const none(1);
  for (StealPolicy const& policy : problem.has_policies() ? o.policies : none) {
    cells.emplace_back();
    cells.back().ranks = o.ranks;
    cells.back().policy = policy;
    if (!o.supervised || policy.victims.empty()) continue;
    cells.push_back(cells.back());
    cells.back().supervised = true;
  }
  return cells;
}

Command command_for(ClusterProblem const& p, ClusterCell const& cell, ClusterOptions const& o) {
  std::vector<std::string> words{"--workers", std::to_string(cell.workers), "--report"};
  auto const add = [&](auto... more) { words.insert(words.end(), {std::string(more)...}); };
  if (!p.has_policies()) {
    add("--side", p.size, "--sweeps", "20");
    if (cell.ranks * cell.workers == 1) add("--check");
    return o.launcher.command("cluster-jacobi3d", words, cell.ranks);
  }
  // The first solution also makes connections and touches memory; the second one counts.
  add("--problem", p.name, "--size", p.size, "--repetitions", "2");
  if (!cell.policy.victims.empty())
    add("--victims", cell.policy.victims, "--chunks", cell.policy.chunks);
  if (cell.supervised) add("--supervised");
  return o.launcher.command("cluster-tasks", words, cell.ranks);
}

// The line in which the program gives its answer; a launcher may have added others.
std::string answer_in(std::string const& output, std::string const& problem) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(problem + ' ')) return line;
  return "";
}

void take_sample(ClusterGroup& group, ClusterCell& cell, ClusterOptions const& o) {
  auto const ended = run_together({command_for(group.problem, cell, o)}, limit_seconds)[0];
  auto const report = parse_report(ended.errors);
  if (report.seconds.empty() || report.ranks != cell.ranks)
    throw std::runtime_error(fmt::format("{} {}, {}: {}", group.problem.name, group.problem.size,
                                         cell.name(), complaint_of(ended)));
  auto const answer = answer_in(ended.output, group.problem.name);
  if (group.answer.empty()) group.answer = answer;
  cell.verified = cell.verified && ended.status == 0 && !answer.empty() && answer == group.answer;
  cell.seconds.push_back(report.seconds.back());
  auto const solutions = static_cast<double>(report.seconds.size());
  for (auto const& [name, count] : report.counters)
    cell.counters[name].push_back(count / solutions);
}

}  // namespace

std::string ClusterCell::name() const {
  if (ranks == 1) return fmt::format("shared/{}", workers);
  return "ranks/" + (policy.victims.empty() ? std::to_string(ranks) : policy.name()) +
         (supervised ? "/supervised" : "");
}

ClusterCell const* ClusterGroup::with(std::string const& policy) const {
  for (ClusterCell const& c : cells)
    if (c.ranks > 1 && !c.supervised && c.policy.name() == policy) return &c;
  return nullptr;
}

double speed_over(ClusterCell const& cell, ClusterCell const& other) {
  return median_of_ratios(other.seconds, cell.seconds);
}

ClusterStudy study(ClusterOptions const& o) {
  ClusterStudy s;
  std::size_t steps = 0;
  for (ClusterProblem const& p : o.problems) {
    s.groups.push_back({p, "", cells_of(p, o)});
    steps += s.groups.back().cells.size() * static_cast<std::size_t>(o.repetitions);
  }
  nigh::platform::Progress progress(static_cast<int>(steps));
  for (ClusterGroup& group : s.groups)
    for (int repetition = 0; repetition < o.repetitions; ++repetition)
      for (ClusterCell& cell : group.cells) {
        progress.step(fmt::format("{} {} {}", group.problem.name, group.problem.size, cell.name()));
        take_sample(group, cell, o);
      }
  return s;
}

namespace {

double counted(ClusterCell const& c, char const* name) {
  auto const found = c.counters.find(name);
  return found == c.counters.end() ? 0 : median_of(found->second);
}

// By message, or from the window that ranks of a host share.
double successful_steals(ClusterCell const& c) {
  return counted(c, "asked") - counted(c, "failed") + counted(c, "visits");
}

std::vector<std::string> row_of(ClusterGroup const& g, ClusterCell const& c) {
  Statistics const s = statistics_of(c.seconds);
  bool const is_first = &c == &g.alone();
  std::vector<std::string> row{
      "  " + c.name(), fmt::format("{:.4g}{}", s.median * 1e3, c.verified ? "" : " WRONG"),
      fmt::format("{:.4g}", s.min * 1e3), fmt::format("{:.4g}", s.max * 1e3),
      is_first ? "" : fmt::format("{:.2f}", speed_over(c, g.alone()))};
  if (c.ranks == 1) return row;
  row.push_back(fmt::format("{:.2f}", speed_over(c, g.shared())));
  if (!g.problem.has_policies()) return row;
  double const steals = successful_steals(c);
  row.push_back(fmt::format("{:.0f}", steals));
  row.push_back(steals > 0 ? fmt::format("{:.1f}", counted(c, "stolen") / steals) : "");
  row.push_back(fmt::format("{:.0f}", counted(c, "failed")));
  return row;
}

std::string times(ClusterStudy const& s) {
  Table t;
  t.row({"", "ms", "min", "max", "speed-up", "of shared", "steals", "tasks each", "in vain"});
  for (ClusterGroup const& g : s.groups) {
    t.rule();
    t.row({g.problem.name + ' ' + g.problem.size});
    for (ClusterCell const& c : g.cells) t.row(row_of(g, c));
  }
  return t.text();
}

// Copies of tasks, and messages instead of a window in which a rank could die.
std::string supervision(ClusterStudy const& s) {
  std::string text;
  for (ClusterGroup const& g : s.groups)
    for (ClusterCell const& c : g.cells) {
      if (!c.supervised) continue;
      double const times = median_of_ratios(c.seconds, g.with(c.policy.name())->seconds);
      text += fmt::format("{} {}, {}: {:+.1f}% time when tasks are supervised\n", g.problem.name,
                          g.problem.size, c.policy.name(), 100 * (times - 1));
    }
  return text.empty() ? "" : '\n' + text;
}

// A policy, and the one that the paper compares it with.
struct Comparison {
  char const *what, *policy, *with;
};

constexpr Comparison comparisons[] = {
    {"HVS over random victims", "hierarchical+half", "random+half"},
    {"HCS over half", "hierarchical+hierarchical", "hierarchical+half"},
    {"both", "hierarchical+hierarchical", "random+half"},
    {"both over fixed chunks", "hierarchical+hierarchical", "random+one"},
};

std::string policies(ClusterStudy const& s) {
  Table t;
  std::vector<std::string> head{""};
  for (ClusterGroup const& g : s.groups)
    if (g.problem.has_policies()) head.push_back(g.problem.name + ' ' + g.problem.size);
  if (head.size() == 1) return "";
  t.row(head);
  t.rule();
  bool is_empty = true;
  for (Comparison const& c : comparisons) {
    std::vector<std::string> row{c.what};
    for (ClusterGroup const& g : s.groups) {
      auto const *one = g.with(c.policy), *other = g.with(c.with);
      if (g.problem.has_policies() && one != nullptr && other != nullptr)
        row.push_back(fmt::format("{:+.1f}%", 100 * (speed_over(*one, *other) - 1)));
    }
    if (row.size() == 1) continue;
    t.row(row);
    is_empty = false;
  }
  if (is_empty) return "";
  return "\nThe paper's comparison: how much faster, medians of the ratios sample by sample\n\n" +
         t.text();
}

}  // namespace

std::string describe(ClusterStudy const& s, ClusterOptions const& o) {
  if (s.groups.empty()) return "";
  return fmt::format(
      "{} ranks of one worker, started by {}: ms, median of {} samples in turn;\n"
      "speed-up over one rank with one worker, and speed of one rank with {} workers'; what ranks\n"
      "asked of each other, for one solution\n{}\n{}{}{}",
      o.ranks, o.launcher.text(), o.repetitions, o.ranks, o.note.empty() ? "" : o.note + '\n',
      times(s), policies(s), supervision(s));
}

std::vector<Result> results(ClusterStudy const& s, ClusterOptions const& o) {
  std::vector<Result> all;
  for (ClusterGroup const& g : s.groups)
    for (ClusterCell const& c : g.cells) {
      Result r;
      r.bench = "cluster/policies";
      r.variant = c.name();
      r.params = {{"problem", g.problem.name},
                  {"size", g.problem.size},
                  {"ranks", static_cast<long>(c.ranks)},
                  {"workers", static_cast<long>(c.workers)},
                  {"mpi", o.launcher.mpi()},
                  {"launcher", o.launcher.text()}};
      if (!c.policy.victims.empty()) {
        r.params["victims"] = c.policy.victims;
        r.params["chunks"] = c.policy.chunks;
      }
      r.metric = "time";
      r.unit = "s";
      r.samples = c.seconds;
      r.verified = c.verified;
      r.counters["speed_up"] = speed_over(c, g.alone());
      r.counters["speed_over_shared"] = speed_over(c, g.shared());
      for (auto const& [name, counts] : c.counters) r.counters[name] = median_of(counts);
      all.push_back(std::move(r));
    }
  return all;
}

}  // namespace bench
