// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "bench/cluster/study.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "platform/progress.hpp"

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
  s.all.push_back({name, {}, {}, {}});
  return s.all.back();
}

void take_samples(LatencyStudy& s, std::string const& output) {
  std::istringstream lines(output);
  for (std::string line, name, unit; std::getline(lines, line);) {
    std::istringstream words(line);
    if (!(words >> name >> unit) || (unit != "us" && unit != "late")) continue;
    Latency& l = named(s, name);
    for (double us; words >> us;) (unit == "us" ? l.us : l.late).push_back(us);
  }
}

double share(std::size_t n, std::size_t of) {
  return of == 0 ? 0 : static_cast<double>(n) / static_cast<double>(of);
}

constexpr double after_task_us = 20, fallback_us = 200;

}  // namespace

std::optional<double> Latency::promised_us() const {
  if (name == "steal/window") return 0.3;
  return std::nullopt;
}

double Latency::share_within(double limit_us) const {
  auto const within =
      std::count_if(us.begin(), us.end(), [&](double sample) { return sample <= limit_us; });
  return share(static_cast<std::size_t>(within), us.size());
}

double Latency::share_after_task() const {
  auto const within = std::count_if(late.begin(), late.end(),
                                    [](double sample) { return sample <= after_task_us; });
  return share(static_cast<std::size_t>(within), late.size());
}

double Latency::share_after_task_or_fallback() const {
  std::size_t within = 0;
  for (std::size_t i = 0; i < late.size(); ++i)
    within += late[i] <= after_task_us || us[i] <= fallback_us;
  return share(within, late.size());
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
  nigh::platform::Progress progress(o.repetitions * static_cast<int>(programs().size()));
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

namespace {

std::string in_us(double us) { return fmt::format("{:.4g}", us); }
std::string in_percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string steals(LatencyStudy const& s) {
  Table t;
  t.row({"", "us", "min", "p90", "max", "of ping-pong", "promised", "kept"});
  t.rule();
  for (Latency const& l : s.all) {
    if (l.is_of_busy_victim()) continue;
    if (!l.absent.empty()) {
      t.row({l.name, "-"});
      continue;
    }
    auto const n = statistics_of(l.us);
    auto const ratio = s.over_ping_pong(l);
    auto const promised = l.promised_us();
    t.row({l.name, in_us(n.median), in_us(n.min), in_us(quantile(l.us, 0.9)), in_us(n.max),
           ratio ? fmt::format("{:.2f}", *ratio) : "", promised ? in_us(*promised) : "",
           promised ? in_percent(l.share_within(*promised)) : ""});
  }
  return t.text();
}

std::string busy_victims(LatencyStudy const& s) {
  Table t;
  t.row({"", "us", "p90", "max", "late", "p90", "p99", "max", "task + 20 us", "or 200 us"});
  t.rule();
  for (Latency const& l : s.all) {
    if (!l.is_of_busy_victim()) continue;
    if (!l.absent.empty()) {
      t.row({l.name, "-"});
      continue;
    }
    auto const late = statistics_of(l.late);
    t.row({l.name, in_us(median_of(l.us)), in_us(quantile(l.us, 0.9)), in_us(quantile(l.us, 1)),
           in_us(late.median), in_us(quantile(l.late, 0.9)), in_us(quantile(l.late, 0.99)),
           in_us(late.max), in_percent(l.share_after_task()),
           in_percent(l.share_after_task_or_fallback())});
  }
  return t.text();
}

}  // namespace

std::string describe(LatencyStudy const& s, ClusterOptions const& o) {
  if (s.all.empty()) return "";
  return fmt::format(
      "{}A steal of 8 tasks of 64 bytes between two ranks, beside MPI messages of the same sizes: "
      "medians of\n"
      "{} starts\n\n{}\n"
      "How soon a rank whose worker is in the midst of tasks, of so many us each, has a request, "
      "and who\n"
      "asked has the answer; and of a plain MPI program that looks after each task. In us since it "
      "was sent;\n"
      "how late: since the end of the task that the rank ran then; how many within that task + 20 "
      "us, and how\n"
      "many within that or 200 us\n\n{}",
      o.problems.empty() ? "" : "\n", o.repetitions, steals(s), busy_victims(s));
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
    if (!l.late.empty()) {
      r.counters["late_median_us"] = median_of(l.late);
      r.counters["late_p90_us"] = quantile(l.late, 0.9);
      r.counters["late_p99_us"] = quantile(l.late, 0.99);
      r.counters["late_max_us"] = quantile(l.late, 1);
      r.counters["share_after_task"] = l.share_after_task();
      r.counters["share_after_task_or_fallback"] = l.share_after_task_or_fallback();
    }
    all.push_back(std::move(r));
  }
  return all;
}

}  // namespace bench
