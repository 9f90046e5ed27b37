// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/study.hpp"

#include <fmt/core.h>

#include <sstream>
#include <stdexcept>

#include "bench/progress.hpp"
#include "bench/statistics.hpp"

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
  return "ranks/" + (policy.victims.empty() ? std::to_string(ranks) : policy.name());
}

ClusterCell const* ClusterGroup::with(std::string const& policy) const {
  for (ClusterCell const& c : cells)
    if (c.ranks > 1 && c.policy.name() == policy) return &c;
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
  Progress progress(static_cast<int>(steps));
  for (ClusterGroup& group : s.groups)
    for (int repetition = 0; repetition < o.repetitions; ++repetition)
      for (ClusterCell& cell : group.cells) {
        progress.step(fmt::format("{} {} {}", group.problem.name, group.problem.size, cell.name()));
        take_sample(group, cell, o);
      }
  return s;
}

}  // namespace bench
