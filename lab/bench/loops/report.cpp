// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "bench/loops/compare.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/tasks/rendezvous_ways.hpp"

namespace bench {

namespace {

template <class Wanted>
std::string table_of(std::vector<Result> const& results, std::string const& unit,
                     char const* format, Wanted const& wanted) {
  Table t;
  t.row({"", unit + ", median", "min", "max"});
  t.rule();
  for (Result const& r : results) {
    if (!wanted(r)) continue;
    Statistics const s = statistics_of(r.samples);
    auto const number = [&](double x) {
      return r.absent.empty() ? fmt::format(fmt::runtime(format), x) : std::string("absent");
    };
    t.row({r.variant, number(s.median), number(s.min), number(s.max)});
  }
  return t.text();
}

}  // namespace

std::string describe_loops(std::vector<Result> const& results, LoopsOptions const& o) {
  std::vector<Result> meetings;
  std::string text;
  for (Result const& r : results) {
    if (r.bench == "loops/rendezvous") meetings.push_back(r);
    if (r.bench == "loops/idle")
      text += fmt::format("nigh's workers from 10 ms after their last loop: {:.2f}% of a cpu\n\n",
                          statistics_of(r.samples).median);
  }
  text +=
      "A loop of two iterations that wait for each other, us: median (min); the caller is\n"
      "busy in the pause before, or sleeps when that is longer than 2 ms\n\n" +
      rendezvous_table(meetings) + '\n';
  text += fmt::format("Triad of {} doubles on {} threads\n\n", o.elements, o.cpus.size()) +
          table_of(results, "GB/s", "{:.2f}",
                   [](Result const& r) { return r.bench == "loops/triad"; }) +
          '\n';
  for (std::string const longest : {"last", "first"})
    text += fmt::format("Triangle of {} rows, the longest {}\n\n", o.rows, longest) +
            table_of(results, "ms", "{:.3f}",
                     [&](Result const& r) {
                       return r.bench == "loops/triangle" &&
                              std::get<std::string>(r.params.at("longest")) == longest;
                     }) +
            '\n';
  for (Result const& r : results)
    if (!r.absent.empty() && r.params.count("pause_us") > 0 &&
        std::get<double>(r.params.at("pause_us")) == 0)
      text += r.variant + ": " + r.absent + '\n';
  return text;
}

}  // namespace bench
