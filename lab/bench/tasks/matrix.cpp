// SPDX-License-Identifier: Apache-2.0
// The matrix as tables for people, and as results for scripts.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nigh/runtime.hpp>
#include <stdexcept>
#include <thread>

#include "bench/pin.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/tasks/solver.hpp"
#include "bench/tasks/studies.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

using workloads::Family;

std::vector<Cell> cells_of(Question const& q, int threads) {
  std::vector<int> sizes{1};
  if (threads > 1) sizes.push_back(threads);
  std::vector<Cell> cells;
  auto const add = [&](std::string const& name, int team, std::string const& absent) {
    cells.push_back({q, name, team, 1, {}, true, absent});
  };
  add(name_of(Family::serial), 1, "");
  for (int const team : sizes) {
    add(name_of(Family::openmp), team, why_absent(Family::openmp));
    add(PeerProcess::family(), team, PeerProcess::why_absent());
    add(name_of(Family::tbb), team, why_absent(Family::tbb));
    add(name_of(Family::nigh), team, why_absent(Family::nigh));
  }
  return cells;
}

// The runtimes that can solve problems, in this process or in the other one.
class Contenders {
 public:
  explicit Contenders(TasksOptions const& o)
      : solver_({&o.machine, o.cpus, pin_this_thread}), peer_(o.cpus) {}

  workloads::Instance& instance(Question const& q) { return solver_.instance(q); }

  Timed solve(Cell const& cell) {
    for (Family const f : workloads::families)
      if (name_of(f) == cell.variant)
        return solver_.solve(cell.question, f, cell.threads, cell.times);
    return peer_.solve(cell.question, cell.threads, cell.times);
  }

 private:
  Solver solver_;
  PeerProcess peer_;
};

// Threads of the variant before are asleep by then.
void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

void sample(Contenders& contenders, Cell& cell, bool warm_up, double sample_seconds) {
  if (!cell.absent.empty()) return;
  settle();
  Timed t;
  try {
    t = contenders.solve(cell);
  } catch (std::runtime_error const& e) {  // the other program fell: deep recursion may do that
    cell.absent = e.what();
    return;
  }
  cell.verified = cell.verified && t.answer == contenders.instance(cell.question).expected();
  if (warm_up)
    cell.times = times_for(t.seconds, sample_seconds);
  else
    cell.seconds.push_back(t.seconds);
}

}  // namespace

std::vector<Row> measure_matrix(TasksOptions const& o) {
  Contenders contenders(o);
  std::vector<Row> rows;
  int steps = 0;
  for (Question const& q : o.questions) {
    rows.push_back({q, contenders.instance(q).spawns(), cells_of(q, o.threads())});
    steps += static_cast<int>(rows.back().cells.size()) * (o.repetitions + (o.warm_up ? 1 : 0));
  }
  nigh::platform::Progress progress(steps);
  for (int repetition = o.warm_up ? -1 : 0; repetition < o.repetitions; ++repetition)
    for (Row& row : rows) {
      if (o.warm_up) {  // else the first one to be timed would fetch the data
        Cell warm = row.serial();
        warm.times = 1;
        contenders.solve(warm);
      }
      for (Cell& cell : row.cells) {
        progress.step(cell.question.problem + ' ' + cell.question.size + ' ' + cell.variant);
        sample(contenders, cell, repetition < 0, o.sample_seconds);
      }
    }
  return rows;
}

double ratio_to_serial(Row const& row, Cell const& cell) {
  std::vector<double> ratios;
  for (std::size_t n = 0; n < cell.seconds.size(); ++n)
    ratios.push_back(cell.seconds[n] / row.serial().seconds[n]);
  return median_of(ratios);
}

double ratio_of_minima(Row const& row, Cell const& cell) {
  double const serial = statistics_of(row.serial().seconds).min;
  return serial > 0 ? statistics_of(cell.seconds).min / serial : 0;
}

namespace {

std::string milliseconds(double seconds) {
  double const ms = seconds * 1e3;
  return ms < 10 ? fmt::format("{:.3f}", ms) : fmt::format("{:.1f}", ms);
}

std::vector<std::string> columns(Row const& row, Cell const& cell) {
  Statistics const s = statistics_of(cell.seconds);
  double const spread = s.median > 0 ? 100 * (s.max - s.min) / s.median : 0;
  std::string const per_task =
      row.tasks > 0 && cell.question.cutoff == 0
          ? fmt::format("{:.1f}", s.median * 1e9 / static_cast<double>(row.tasks))
          : "";
  return {cell.variant,
          std::to_string(cell.threads),
          milliseconds(s.median),
          milliseconds(s.min),
          fmt::format("{:.0f}%", spread),
          fmt::format("{:.2f}", ratio_to_serial(row, cell)),
          fmt::format("{:.2f}", ratio_of_minima(row, cell)),
          per_task,
          cell.verified ? "" : "WRONG"};
}

std::string title(Row const& row) {
  std::string text = row.question.problem + ' ' + row.question.size;
  if (row.question.cutoff > 0)
    text += fmt::format(", no tasks below depth {}", row.question.cutoff);
  if (row.tasks > 0 && row.question.cutoff == 0) text += fmt::format(": {} tasks", row.tasks);
  return text;
}

}  // namespace

std::string describe(std::vector<Row> const& rows, TasksOptions const& o) {
  std::string text = fmt::format(
      "Problems of recursive tasks: milliseconds to solve one, {} repetitions, all variants in "
      "turn;\n"
      "spread = (max - min) / median; x serial = median of the ratios within one repetition;\n"
      "of minima = the same for the shortest times\n",
      o.repetitions);
  for (Row const& row : rows) {
    Table t;
    t.row({"", "threads", "median", "min", "spread", "x serial", "of minima", "ns a task", ""});
    t.rule();
    for (Cell const& cell : row.cells)
      if (cell.absent.empty())
        t.row(columns(row, cell));
      else
        t.row({cell.variant, std::to_string(cell.threads), "absent"});
    text += '\n' + title(row) + "\n\n" + t.text();
    for (Cell const& cell : row.cells)
      if (!cell.absent.empty())
        text += fmt::format("{} with {}: {}\n", cell.variant, cell.threads, cell.absent);
  }
  return text;
}

std::vector<Result> results(std::vector<Row> const& rows) {
  std::vector<Result> all;
  for (Row const& row : rows)
    for (Cell const& cell : row.cells) {
      Result r;
      r.bench = "tasks/matrix";
      r.variant = cell.variant;
      r.params = {{"problem", row.question.problem},
                  {"size", row.question.size},
                  {"cutoff", static_cast<long>(row.question.cutoff)},
                  {"threads", static_cast<long>(cell.threads)},
                  {"times", static_cast<long>(cell.times)}};
      r.metric = "time";
      r.unit = "s";
      r.samples = cell.seconds;
      r.verified = cell.verified;
      r.absent = cell.absent;
      r.counters = {{"ratio_to_serial", ratio_to_serial(row, cell)},
                    {"ratio_of_minima", ratio_of_minima(row, cell)},
                    {"tasks", static_cast<long>(row.tasks)}};
      all.push_back(std::move(r));
    }
  return all;
}

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
