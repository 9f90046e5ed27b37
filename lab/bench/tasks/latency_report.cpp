// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "bench/statistics.hpp"
#include "bench/tasks/latency.hpp"
#include "bench/tasks/rendezvous_ways.hpp"

namespace bench {

std::string describe_latency(std::vector<Result> const& results) {
  std::string text =
      "Fork-join of two bodies that wait for each other, us: median (min); the caller is busy in\n"
      "the pause before, or sleeps when that is longer than 2 ms\n\n" +
      rendezvous_table(results) + '\n';
  double round_trip = 0;
  for (Result const& r : results) {
    Statistics const s = statistics_of(r.samples);
    if (r.metric == "round_trip") {
      round_trip = s.median;
      text += fmt::format("a cache line there and back: {:.0f} ns (min {:.0f})\n", s.median, s.min);
    } else if (r.metric == "steal") {
      text += fmt::format(
          "from a fork until it is seen to have been stolen: {:.0f} ns (min {:.0f}), {:.1f} round "
          "trips\n",
          s.median, s.min, s.median / round_trip);
    } else if (r.metric == "cpu_burnt_by_others") {
      text +=
          fmt::format("burnt by the other workers while one is busy: {:.2f}% of a cpu\n", s.median);
    } else if (r.metric == "cpu_used_when_idle") {
      text += fmt::format(
          "burnt by all workers from 10 ms after their last task: {:.2f}% of a cpu\n", s.median);
    }
  }
  for (Result const& r : results)
    if (!r.absent.empty()) text += r.variant + ": " + r.absent + '\n';
  return text;
}

}  // namespace bench
