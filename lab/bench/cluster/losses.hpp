// SPDX-License-Identifier: Apache-2.0
#pragma once
// A problem whose ranks are killed one after another: how soon the others know of each, how soon
// they begin the lost tasks again, and how much they do meanwhile.

#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/cluster/loss_problem.hpp"
#include "bench/cluster/study.hpp"
#include "bench/results.hpp"

namespace bench {

struct LossOptions {
  LossOptions(nigh::topology live, Launcher starts)
      : machine(std::move(live)), launcher(std::move(starts)) {}

  nigh::topology machine;
  Launcher launcher;
  LossProblem problem;
  int ranks = 4, repetitions = 5;
  double kill_every = 1;  // seconds; two ranks are left in the end
};

// One rank's SIGKILL, and how many seconds later the first of the others, and the last of them,
// knew of it, and a task that had been at the rank began again; nothing: no such task, or it is not
// known.
struct Kill {
  int rank = 0;
  double at = 0;  // seconds since the ranks began
  std::optional<double> noticed, noticed_by_all, begun_again;
};

struct LossJob {
  double seconds = 0;  // until the last rank ended
  int solved = 0, wrong = 0;
  long run_again = 0;         // tasks
  double done = 0;            // nodes or cells, of lost ranks and of tasks that ran twice, too
  std::vector<double> rates;  // of them per second, a window each
  std::vector<Kill> kills;
  std::vector<std::string> complaints;  // empty: all was right
};

// Of a file that cluster-losses has written. victims: the ranks that were to be killed.
LossJob read_events(std::string const& text, int ranks, std::vector<int> const& victims);

struct LossStudy {
  LossJob whole;  // without a loss
  std::vector<LossJob> jobs;
};

LossStudy study(LossOptions const& options);
std::string describe(LossStudy const& study, LossOptions const& options);
std::vector<Result> results(LossStudy const& study, LossOptions const& options);

}  // namespace bench
