// SPDX-License-Identifier: Apache-2.0
// Simulated multigrid as tables for people, what the text states beside them, and as lines for
// scripts.
#include <fmt/format.h>

#include <cstddef>

#include "sim/commands/mg.hpp"
#include "sim/commands/result_lines.hpp"

namespace nigh::cli {
namespace {

using sim::MgCurve;

std::string row_name(MgCurve const& c) {
  return fmt::format("{:17}{:9}{:15}", sim::name_of(c.what), sim::name_of(c.what.order),
                     sim::name_of(c.what.pages));
}

// At most eight counts of threads, the last among them.
std::vector<std::size_t> shown(std::vector<int> const& threads) {
  std::vector<std::size_t> counts;
  auto const step = (threads.size() + 7) / 8;
  for (std::size_t i = threads.size(); i > 0; i = i > step ? i - step : 0)
    counts.insert(counts.begin(), i - 1);
  return counts;
}

std::string speedups_text(MgRuns const& r) {
  auto const counts = shown(r.study.threads);
  std::string text = fmt::format("{:41}speedup with so many threads\n{:41}", "", "");
  for (auto const i : counts) text += fmt::format("{:>6}", r.study.threads[i]);
  text += fmt::format("{:>7}\n", "mean");
  for (auto const& c : r.study.curves) {
    text += row_name(c);
    for (auto const i : counts) text += fmt::format("{:>6.1f}", r.study.speedup(c, i));
    text += fmt::format("{:>7.1f}\n", r.study.mean_speedup(c));
  }
  return text + '\n';
}

std::string loads_text(MgRuns const& r) {
  std::string text =
      fmt::format("{:41}with {} threads\n{:41}{:>8}{:>7}{:>8}  {}\n", "", r.study.threads.back(),
                  "", "seconds", "GB/s", "missed", "each domain's part of the traffic, %");
  for (auto const& c : r.study.curves) {
    auto const& o = c.outcomes.back();
    text += fmt::format("{}{:>8.2f}{:>7.0f}{:>7.0f}% ", row_name(c), c.seconds.back(),
                        o.gb / o.iteration_s, 100 * o.missed);
    for (double const part : o.load) text += fmt::format("{:>4.0f}", 100 * part);
    text += '\n';
  }
  return text;
}

std::string statements_text(MgRuns const& r) {
  if (r.statements.empty()) return {};
  std::string text = fmt::format("\n{:66}simulated\n", "published");
  int held = 0;
  for (auto const& s : r.statements) {
    text += fmt::format("{:66}{}: {}\n", s.text, s.holds ? "holds" : "FAILS", s.simulated);
    held += s.holds;
  }
  return text + fmt::format("{} of {} statements hold\n", held, r.statements.size());
}

}  // namespace

std::string describe(MgRuns const& r) {
  return fmt::format("{}\nNPB MG, class {}, {} iterations; seed {}\n\n", r.machine.title,
                     r.size.name, r.size.iterations, r.seed) +
         speedups_text(r) + loads_text(r) + statements_text(r);
}

std::string result_lines(MgRuns const& runs) {
  std::string text;
  for (auto const& c : runs.study.curves)
    for (std::size_t i = 0; i < runs.study.threads.size(); ++i) {
      auto const& o = c.outcomes[i];
      SimResult r;
      r.bench = "sim/mg";
      r.variant = sim::name_of(c.what);
      r.params = {{"seed", static_cast<long>(runs.seed)}, {"threads", runs.study.threads[i]}};
      r.settings = {{"machine", runs.machine.name},
                    {"class", std::string(1, runs.size.name)},
                    {"order", std::string(sim::name_of(c.what.order))},
                    {"pages", std::string(sim::name_of(c.what.pages))}};
      r.metric = "time";
      r.unit = "s";
      r.samples = {c.seconds[i]};
      r.counters = {{"speedup", runs.study.speedup(c, i)},
                    {"gb_per_s", o.gb / o.iteration_s},
                    {"missed", o.missed}};
      for (std::size_t d = 0; d < o.load.size(); ++d) {
        r.counters["load_" + std::to_string(d)] = o.load[d];
        r.counters["resident_" + std::to_string(d)] = o.resident[d];
      }
      text += json_line(r, runs.machine);
    }
  for (auto const& s : runs.statements) {
    SimResult r;
    r.bench = "sim/mg/statement";
    r.variant = s.text;
    r.params = {{"seed", static_cast<long>(runs.seed)}};
    r.settings = {{"machine", runs.machine.name},
                  {"class", std::string(1, runs.size.name)},
                  {"simulated", s.simulated}};
    r.metric = "holds";
    r.unit = "truth";
    r.samples = {s.holds ? 1.0 : 0.0};
    text += json_line(r, runs.machine);
  }
  return text;
}

}  // namespace nigh::cli
