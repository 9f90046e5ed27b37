// SPDX-License-Identifier: Apache-2.0
#include "bench/tasks/rendezvous_ways.hpp"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

std::string pause_text(double us) {
  if (us == 0) return "hot";
  return us < 1000 ? fmt::format("{:g} us", us) : fmt::format("{:g} ms", us / 1000);
}

}  // namespace

std::vector<Result> time_ways(std::string const& bench, std::vector<Way> const& list, bool quick) {
  std::vector<Result> results;
  for (Way const& way : list)
    for (double const pause : rendezvous_pauses_us) {
      Result r;
      r.bench = bench;
      r.variant = way.name;
      r.metric = "rendezvous";
      r.unit = "ns";
      r.params = {{"pause_us", pause}};
      r.absent = way.absent;
      results.push_back(std::move(r));
    }
  int const rounds = quick ? 1 : 5;
  Progress progress(rounds * static_cast<int>(results.size()));
  for (int round = 0; round < rounds; ++round) {
    auto result = results.begin();
    for (Way const& way : list)
      for (double const pause : rendezvous_pauses_us) {
        progress.step(way.name);
        Result& r = *result++;
        if (!r.absent.empty()) continue;
        int const count = quick ? 3 : pause > 2000 ? 10 : 100;
        try {
          for (double const ns : way.time(pause, count)) r.samples.push_back(ns);
        } catch (std::runtime_error const& e) {
          r.absent = e.what();
        }
      }
  }
  return results;
}

std::string rendezvous_table(std::vector<Result> const& results) {
  Table t;
  std::vector<std::string> head{"pause"}, row;
  for (double const pause : rendezvous_pauses_us) head.push_back(pause_text(pause));
  t.row(head);
  t.rule();
  for (Result const& r : results) {
    if (r.metric != "rendezvous") continue;
    if (row.empty()) row.push_back(r.variant);
    Statistics const s = statistics_of(r.samples);
    row.push_back(r.absent.empty() ? fmt::format("{:.2f} ({:.2f})", s.median / 1e3, s.min / 1e3)
                                   : "absent");
    if (row.size() == head.size()) t.row(std::exchange(row, {}));
  }
  return t.text();
}

}  // namespace bench
