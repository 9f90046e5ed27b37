// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/latencies.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

struct Program {
  char const* name;
  std::vector<std::string> usual, quick;
};

std::vector<Program> const& programs() {
  static std::vector<Program> const all{{"cluster-latency",
                                         {"--rounds", "3", "--steals", "1000", "--answers", "200"},
                                         {"--rounds", "2", "--steals", "20", "--answers", "20"}}};
  return all;
}

Latency& named(LatencyStudy& s, std::string const& name) {
  auto const found =
      std::find_if(s.all.begin(), s.all.end(), [&](Latency const& l) { return l.name == name; });
  if (found != s.all.end()) return *found;
  s.all.push_back({name, {}, {}});
  return s.all.back();
}

void take_samples(LatencyStudy& s, std::string const& output) {
  std::istringstream lines(output);
  for (std::string line, name, unit; std::getline(lines, line);) {
    std::istringstream words(line);
    if (!(words >> name >> unit) || unit != "us") continue;
    Latency& l = named(s, name);
    for (double us; words >> us;) l.us.push_back(us);
  }
}

constexpr std::string_view busy = "/busy-";

}  // namespace

std::optional<double> Latency::promised_us() const {
  if (name == "steal/window") return 0.3;
  auto const at = name.find(busy);
  if (at == name.npos) return std::nullopt;
  constexpr double between_tasks_us = 20, fallback_us = 200;
  return std::min(std::atof(name.c_str() + at + busy.size()) + between_tasks_us, fallback_us);
}

double Latency::share_within(double limit_us) const {
  auto const within =
      std::count_if(us.begin(), us.end(), [&](double sample) { return sample <= limit_us; });
  return us.empty() ? 0 : static_cast<double>(within) / static_cast<double>(us.size());
}

std::optional<double> LatencyStudy::over_ping_pong(Latency const& l) const {
  if (l.name != "steal/messages") return std::nullopt;
  for (Latency const& other : all)
    if (other.name == "ping-pong/messages") return median_of_ratios(l.us, other.us);
  return std::nullopt;
}

LatencyStudy study_latencies(ClusterOptions const& o) {
  LatencyStudy s;
  if (!o.latencies) return s;
  Progress progress(o.repetitions * static_cast<int>(programs().size()));
  for (int repetition = 0; repetition < o.repetitions; ++repetition)
    for (Program const& p : programs()) {
      progress.step(p.name);
      auto const command = o.launcher.command(p.name, o.quick ? p.quick : p.usual, 2);
      auto const ended = run_together({command})[0];
      if (ended.status != 0)
        throw std::runtime_error(fmt::format("{}: {}", p.name, complaint_of(ended)));
      take_samples(s, ended.output);
    }
  for (Latency& l : s.all)
    if (l.us.empty())
      l.absent = l.name == "steal/window"
                     ? "the two ranks share no memory"
                     : "the two ranks have no clock in common, or it never happened";
  return s;
}

std::string describe(LatencyStudy const& s, ClusterOptions const& o) {
  if (s.all.empty()) return "";
  Table t;
  t.row({"", "us", "min", "p90", "max", "of ping-pong", "promised", "kept"});
  t.rule();
  for (Latency const& l : s.all) {
    if (!l.absent.empty()) {
      t.row({l.name, "-"});
      continue;
    }
    auto const n = statistics_of(l.us);
    auto const ratio = s.over_ping_pong(l);
    auto const promised = l.promised_us();
    t.row({l.name, fmt::format("{:.4g}", n.median), fmt::format("{:.4g}", n.min),
           fmt::format("{:.4g}", quantile(l.us, 0.9)), fmt::format("{:.4g}", n.max),
           ratio ? fmt::format("{:.2f}", *ratio) : "",
           promised ? fmt::format("{:.4g}", *promised) : "",
           promised ? fmt::format("{:.1f}%", 100 * l.share_within(*promised)) : ""});
  }
  return fmt::format(
      "{}A steal of 8 tasks of 64 bytes between two ranks, beside MPI messages of the same sizes; "
      "and\n"
      "how soon a rank whose worker is in the midst of tasks, of so many us each, has a request "
      "and\n"
      "who asked has the answer: medians of {} starts\n\n{}",
      o.problems.empty() ? "" : "\n", o.repetitions, t.text());
}

std::vector<Result> results(LatencyStudy const& s, ClusterOptions const& o) {
  std::vector<Result> all;
  for (Latency const& l : s.all) {
    Result r;
    r.bench = "cluster/latency";
    r.variant = l.name;
    r.params = {{"mpi", o.launcher.mpi()}, {"launcher", o.launcher.text()}};
    r.metric = "latency";
    r.unit = "us";
    r.samples = l.us;
    r.absent = l.absent;
    if (auto const ratio = s.over_ping_pong(l)) r.counters["over_ping_pong"] = *ratio;
    if (auto const promised = l.promised_us(); promised && l.absent.empty()) {
      r.counters["promised_us"] = *promised;
      r.counters["share_within"] = l.share_within(*promised);
    }
    all.push_back(std::move(r));
  }
  return all;
}

}  // namespace bench
