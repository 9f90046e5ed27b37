// SPDX-License-Identifier: Apache-2.0
// Ways to share a host, as tables for people and as results for scripts.
#include <fmt/core.h>

#include <map>

#include "bench/coordinator/throughput.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

std::string title_of(Sharing const& way) {
  if (way.name == "sequential") return "one after the other";
  if (way.name == "together") return "all at once";
  if (way.name == "fixed") return "all at once, best threads";
  return "all at once, " + way.name;
}

std::string choice(ThroughputOptions const& o) {
  if (o.programs == 0) return {};
  std::string said = fmt::format("programs and sizes at random, seed {}", o.seed);
  if (o.mean_pause_seconds > 0)
    said += fmt::format("; one comes every {:.2f} s on average", o.mean_pause_seconds);
  return said + '\n';
}

std::string programs_table(ThroughputStudy const& s) {
  Table t;
  std::vector<std::string> head{"alone, seconds"};
  for (std::size_t n = 1; n <= s.alone.front().seconds.size(); ++n)
    head.push_back(fmt::format("{} thread{}", n, n == 1 ? "" : "s"));
  head.push_back("best threads");
  if (s.options.programs > 0) head.push_back("how many");
  t.row(head);
  t.rule();
  std::map<std::string, std::size_t> by_name;
  for (SharingProgram const& program : s.programs) ++by_name[program.name];
  for (std::size_t i = 0; i < s.programs.size(); ++i) {
    std::vector<std::string> row{s.programs[i].name};
    auto const left = by_name.extract(s.programs[i].name);
    if (left.empty()) continue;
    for (double const seconds : s.alone[i].seconds) row.push_back(fmt::format("{:.2f}", seconds));
    row.push_back(fmt::format("{}", s.alone[i].best_threads));
    if (s.options.programs > 0) row.push_back(fmt::format("{}", left.mapped()));
    t.row(row);
  }
  return t.text();
}

}  // namespace

std::string describe(ThroughputStudy const& s) {
  Table t;
  bool const has_energy = !s.ways.front().joules.empty();
  std::vector<std::string> head{"",           "seconds",  "spread",      "of sequential",
                                "of at once", "mean end", "cpu seconds", "outputs"};
  if (has_energy) head.push_back("joules");
  t.row(head);
  t.rule();
  std::string notes;
  for (Sharing const& way : s.ways) {
    if (!way.absent.empty()) {
      notes += fmt::format("\nabsent: {}: {}\n", title_of(way), way.absent);
      continue;
    }
    Statistics const seconds = statistics_of(way.seconds);
    std::vector<std::string> row{
        title_of(way),
        fmt::format("{:.2f}", seconds.median),
        fmt::format("{:.0f}%", 100 * (seconds.max - seconds.min) / seconds.median),
        fmt::format("{:.2f}", s.ratio(way, "sequential")),
        fmt::format("{:.2f}", s.ratio(way, "together")),
        fmt::format("{:.2f}", median_of(way.mean_end)),
        fmt::format("{:.2f}", median_of(way.cpu_seconds)),
        way.same_outputs ? "same" : "DIFFER"};
    if (has_energy)
      row.push_back(way.joules.empty() ? "-" : fmt::format("{:.1f}", median_of(way.joules)));
    t.row(row);
  }
  if (!has_energy) notes += "\nenergy: not available here\n";
  for (Sharing const& way : s.ways)
    if (!way.granted.empty())
      notes += fmt::format("\n{}: cpus granted to {:.0f} of {} programs\n", title_of(way),
                           median_of(way.granted), s.programs.size());
  return fmt::format(
      "{} OpenMP programs on one host: seconds until the last has ended, median of {} samples, "
      "all\n"
      "ways in turn; ratios: medians sample by sample; mean end: of a program, since it came\n{}\n"
      "{}\n{}{}",
      s.programs.size(), s.options.repetitions, choice(s.options), programs_table(s), t.text(),
      notes);
}

std::vector<Result> results(ThroughputStudy const& s) {
  std::string names;
  for (SharingProgram const& program : s.programs)
    names += (names.empty() ? "" : ", ") + program.name;
  std::vector<Result> all;
  for (Sharing const& way : s.ways) {
    Result r;
    r.bench = "coordinator/throughput";
    r.variant = way.name;
    r.params = {{"programs", static_cast<long>(s.programs.size())}, {"set", names}};
    if (s.options.programs > 0) r.params["seed"] = s.options.seed;
    if (s.options.mean_pause_seconds > 0) r.params["mean_pause_s"] = s.options.mean_pause_seconds;
    r.metric = "total_time";
    r.unit = "s";
    r.absent = way.absent;
    r.samples = way.seconds;
    if (way.absent.empty()) {
      r.verified = way.same_outputs;
      r.counters = {{"of_sequential", s.ratio(way, "sequential")},
                    {"of_together", s.ratio(way, "together")},
                    {"mean_end_s", median_of(way.mean_end)},
                    {"cpu_s", median_of(way.cpu_seconds)}};
    }
    if (way.joules.empty())
      r.counters["energy_j"] = nullptr;
    else
      r.counters["energy_j"] = median_of(way.joules);
    if (!way.granted.empty()) r.counters["programs_granted"] = median_of(way.granted);
    all.push_back(std::move(r));
  }
  return all;
}

}  // namespace bench
