// SPDX-License-Identifier: Apache-2.0
// The study as tables for people, and as results for scripts.
#include <fmt/core.h>

#include <algorithm>

#include "bench/openmp_tasks/study.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

std::string milliseconds(double seconds) {
  return seconds < 0.01 ? fmt::format("{:.3f}", seconds * 1e3)
                        : fmt::format("{:.1f}", seconds * 1e3);
}

// The plain run of the same program with as many threads; for others, gcc's.
TaskWay const* plain_of(TaskRow const& row, TaskWay const& way) {
  auto const slash = way.variant.find('/');
  std::string const name =
      (slash == std::string::npos ? "openmp-gcc" : way.variant.substr(0, slash)) + "/plain";
  auto const found = std::find_if(row.ways.begin(), row.ways.end(), [&](TaskWay const& other) {
    return other.variant == name && other.threads == way.threads;
  });
  return found == row.ways.end() ? nullptr : &*found;
}

// How often this way has solved the problem while the plain one solves it once.
double times_plain(TaskRow const& row, TaskWay const& way) {
  TaskWay const* const plain = plain_of(row, way);
  return plain == nullptr ? 0 : median_of_ratios(plain->seconds, way.seconds);
}

long tasks_of(TaskRow const& row) { return row.counts.empty() ? 0 : row.counts.front().tasks; }

double tasks_per_second(TaskRow const& row, TaskWay const& way) {
  double const seconds = median_of(way.seconds);
  return seconds > 0 ? static_cast<double>(tasks_of(row)) / seconds : 0;
}

std::string size_text(TaskRow const& row, OpenmpTasksOptions const& o) {
  return (o.quick ? row.program.quick_arguments : row.program.arguments).front();
}

std::string ways_table(TaskRow const& row, OpenmpTasksOptions const& o) {
  Table t;
  t.row({"", "threads", "median ms", "min", "max", "plain / this", "million tasks/s", ""});
  t.rule();
  for (TaskWay const& way : row.ways) {
    if (!way.absent.empty()) {
      t.row({way.variant, std::to_string(way.threads), "absent"});
      continue;
    }
    Statistics const s = statistics_of(way.seconds);
    bool const is_program = way.variant.find('/') != std::string::npos;
    t.row({way.variant, std::to_string(way.threads), milliseconds(s.median), milliseconds(s.min),
           milliseconds(s.max), fmt::format("{:.2f}", times_plain(row, way)),
           is_program && tasks_of(row) > 0 ? fmt::format("{:.2f}", tasks_per_second(row, way) / 1e6)
                                           : "",
           way.verified ? "" : "WRONG"});
  }
  std::string text =
      fmt::format("\n{}, size {}\n\n{}", row.program.name, size_text(row, o), t.text());
  for (TaskWay const& way : row.ways)
    if (!way.absent.empty())
      text += fmt::format("{} with {}: {}\n", way.variant, way.threads, way.absent);
  return text;
}

// A task's time: that of the plain program on one thread, by its tasks; that time holds what the
// runtime took.
double task_us(TaskRow const& row, TaskCounts const& c) {
  for (TaskWay const& way : row.ways)
    if (way.variant == "openmp-" + c.compiler + "/nigh" && way.threads == 1 && c.tasks > 0)
      return median_of(way.seconds) * 1e6 / static_cast<double>(c.tasks);
  return 0;
}

std::string counts_table(OpenmpTasksStudy const& study) {
  Table t;
  t.row({"", "compiler", "tasks created", "mean task", "run at once", "stolen", "times asleep"});
  t.rule();
  for (TaskRow const& row : study.rows)
    for (TaskCounts const& c : row.counts)
      t.row({row.program.name, c.compiler, std::to_string(c.tasks),
             fmt::format("{:.3f} us", task_us(row, c)), std::to_string(c.at_once),
             std::to_string(c.stolen), std::to_string(c.asleep)});
  return t.text();
}

}  // namespace

std::string describe(OpenmpTasksStudy const& study, OpenmpTasksOptions const& o) {
  std::string text = fmt::format(
      "Programs with OpenMP tasks, plain and under nigh run --tasks {}: milliseconds of the "
      "parallel part, {}\n"
      "repetitions, all variants in turn. plain / this: median of the ratios to the plain program "
      "of the same compiler\n"
      "(of nigh and tbb, which are other programs for the same problem, to gcc's) with as many "
      "threads\n",
      o.tasks, o.repetitions);
  for (TaskRow const& row : study.rows) text += ways_table(row, o);
  bool const counted = std::any_of(study.rows.begin(), study.rows.end(),
                                   [](TaskRow const& row) { return !row.counts.empty(); });
  if (counted)
    text += fmt::format(
        "\nBenchmark characteristics, from one run under nigh with {} threads; mean task = time "
        "under nigh on one\n"
        "thread / tasks\n\n{}",
        o.cpus.size(), counts_table(study));
  return text;
}

std::vector<Result> results(OpenmpTasksStudy const& study, OpenmpTasksOptions const& o) {
  std::vector<Result> all;
  for (TaskRow const& row : study.rows) {
    for (TaskWay const& way : row.ways) {
      Result r;
      r.bench = "openmp-tasks";
      r.variant = way.variant;
      r.params = {{"problem", row.program.name},
                  {"size", size_text(row, o)},
                  {"threads", static_cast<long>(way.threads)},
                  {"tasks", o.tasks}};
      r.metric = "time";
      r.unit = "s";
      r.samples = way.seconds;
      r.absent = way.absent;
      if (way.absent.empty()) {
        r.verified = way.verified;
        r.counters = {{"plain_over_this", times_plain(row, way)},
                      {"tasks_per_second", tasks_per_second(row, way)}};
      }
      all.push_back(std::move(r));
    }
    for (TaskCounts const& c : row.counts) {
      Result r;
      r.bench = "openmp-tasks/characteristics";
      r.variant = "openmp-" + c.compiler + "/nigh";
      r.params = {{"problem", row.program.name},
                  {"size", size_text(row, o)},
                  {"threads", static_cast<long>(c.threads)},
                  {"tasks", o.tasks}};
      r.metric = "mean_task";
      r.unit = "us";
      r.samples = {task_us(row, c)};
      r.counters = {{"tasks", c.tasks},
                    {"run_at_once", c.at_once},
                    {"stolen", c.stolen},
                    {"times_asleep", c.asleep}};
      all.push_back(std::move(r));
    }
  }
  return all;
}

}  // namespace bench
