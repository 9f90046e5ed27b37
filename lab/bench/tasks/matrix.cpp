// SPDX-License-Identifier: Apache-2.0
#include "bench/tasks/matrix.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "bench/pin.hpp"
#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "bench/tasks/peer_process.hpp"

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
  Progress progress(steps);
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

}  // namespace bench
