// SPDX-License-Identifier: Apache-2.0
// The matrix as tables for people, and as results for scripts.
#include <fmt/core.h>

#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/tasks/matrix.hpp"

namespace bench {

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

}  // namespace bench
