// SPDX-License-Identifier: Apache-2.0
// The study as tables for people, and as results for scripts.
#include <fmt/core.h>

#include "bench/cluster/study.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

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
      "asked of each other, for one solution\n{}\n{}{}",
      o.ranks, o.launcher.text(), o.repetitions, o.ranks, o.note.empty() ? "" : o.note + '\n',
      times(s), policies(s));
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
