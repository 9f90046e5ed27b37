// SPDX-License-Identifier: Apache-2.0
#include "bench/tasks/characteristics.hpp"

#include <fmt/core.h>

#include <nigh/runtime.hpp>

#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

// nigh's extra seconds on one worker, median over repetitions.
double extra_seconds(Row const& row) {
  for (Cell const& cell : row.cells) {
    if (cell.variant != name_of(workloads::Family::nigh) || cell.threads != 1) continue;
    std::vector<double> extra;
    for (std::size_t n = 0; n < cell.seconds.size(); ++n)
      extra.push_back(cell.seconds[n] - row.serial().seconds[n]);
    return median_of(extra);
  }
  return 0;
}

Characteristics measure(Row const& row, nigh::runtime& runtime) {
  auto const instance =
      workloads::find_problem(row.question.problem)->make(row.question.size, row.question.cutoff);
  instance->prepare();
  runtime.reset_counters();
  runtime.run([&] { instance->solve(workloads::Family::nigh); });
  Characteristics c;
  c.question = row.question;
  for (nigh::worker_counters const& w : runtime.counters()) {
    c.tasks += static_cast<long>(w.forked);
    c.steals += static_cast<long>(w.steals);
    c.stolen += static_cast<long>(w.stolen);
    c.failed_steals += static_cast<long>(w.failed_steals);
    c.serialized += static_cast<long>(w.serialized);
  }
  if (c.tasks > 0) {
    c.task_us = median_of(row.serial().seconds) * 1e6 / static_cast<double>(c.tasks);
    c.overhead_ns = extra_seconds(row) * 1e9 / static_cast<double>(c.tasks);
  }
  return c;
}

// Of tasks beyond a microsecond it would be the difference of two long times, which is noise.
std::string overhead(Characteristics const& c) {
  return c.task_us < 1 ? fmt::format("{:.1f} ns", c.overhead_ns) : "";
}

}  // namespace

std::vector<Characteristics> measure_characteristics(std::vector<Row> const& rows,
                                                     TasksOptions const& o) {
  nigh::runtime_options options;
  options.machine = &o.machine;
  options.workers = o.threads();
  options.count_tasks = true;
  nigh::runtime runtime(options);
  std::vector<Characteristics> all;
  for (Row const& row : rows) all.push_back(measure(row, runtime));
  return all;
}

std::string describe(std::vector<Characteristics> const& all, TasksOptions const& o) {
  Table t;
  t.row({"", "tasks created", "mean task", "overhead", "steals", "stolen", "failed", "serialized"});
  t.rule();
  for (Characteristics const& c : all)
    t.row({c.question.problem + ' ' + c.question.size, std::to_string(c.tasks),
           fmt::format("{:.3f} us", c.task_us), overhead(c), std::to_string(c.steals),
           std::to_string(c.stolen), std::to_string(c.failed_steals),
           std::to_string(c.serialized)});
  return fmt::format(
             "Benchmark characteristics of nigh: tasks, steals and tasks run inline with {} "
             "workers;\n"
             "mean task = serial time / tasks; overhead = what one worker takes longer per "
             "task\n\n",
             o.threads()) +
         t.text();
}

std::vector<Result> results(std::vector<Characteristics> const& all, TasksOptions const& o) {
  std::vector<Result> lines;
  for (Characteristics const& c : all) {
    Result r;
    r.bench = "tasks/characteristics";
    r.variant = "nigh";
    r.params = {{"problem", c.question.problem},
                {"size", c.question.size},
                {"cutoff", static_cast<long>(c.question.cutoff)},
                {"threads", static_cast<long>(o.threads())}};
    r.metric = "creation_overhead";
    r.unit = "ns";
    r.samples = {c.overhead_ns};
    r.counters = {{"tasks", c.tasks},
                  {"task_us", c.task_us},
                  {"steals", c.steals},
                  {"stolen", c.stolen},
                  {"failed_steals", c.failed_steals},
                  {"serialized", c.serialized}};
    lines.push_back(std::move(r));
  }
  return lines;
}

}  // namespace bench
