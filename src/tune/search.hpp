// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the cheapest of many configurations with few runs. It asks for a run, its caller runs it,
// and tells it the cost; no run, clock or file in here, so that recorded landscapes test it.
//
//   survey ------ nothing unmeasured can win -----> rung 1, 2, ... ----> done
//   one run each, the most promising next           the better half stays, and runs again
//
// The survey first sees every value of every option once, each beside the best of the others so
// far, the first option first. Then it goes on with the configurations whose values' effects
// promise most, and leaves out those that would lose even if the promise were wrong by four times
// its doubt. No promise keeps out a configuration that differs from the leader's in one value: with
// a schedule that has threads wait for each other two threads may be ten times as slow as one, and
// with another schedule twice as fast. Rungs are successive halving (Jamieson and Talwalkar 2016);
// a candidate whose loss noise does not explain is dropped at once, and comes back when later runs
// show more noise. On the first rung more than the better half may stay: up to half of the
// remaining runs go to second runs, for a candidate that ran once may have been unlucky. Three may
// always stay. Finalists that have run as often as asked, and are apart by more than 1% but not by
// more than noise, run on while runs are left. Within a rung the order is shuffled, for a machine's
// speed drifts. In the end the leader and the first candidate, with which it is compared, run
// three times, if repetitions allow. Runs in all: at most a third of running every candidate as
// often as finalists run, when there are six or more of them and finalists run four times or more.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "tune/candidate.hpp"
#include "tune/standings.hpp"

namespace nigh::tune {

struct SearchOptions {
  int repetitions = 5;  // of finalists
  std::uint64_t seed = 1;
  bool exhaustive = false;  // all are finalists: the reference for comparing a search
};

class Search {
 public:
  // At least one candidate, all with as many options; the first is the case without options, and is
  // measured first.
  Search(std::vector<Candidate> candidates, SearchOptions options);

  // The candidate to run next; empty when all that is needed is known.
  std::optional<int> next();
  void tell(int candidate, double cost);
  // The run was stopped, being so much dearer. Never of the first, with which all others are
  // compared.
  void tell_lost(int candidate, double cost_so_far);
  void tell_failed(int candidate);
  void rule_out(int candidate);  // it would fail, too, and need not run

  std::vector<Candidate> const& candidates() const { return candidates_; }
  std::vector<Measured> const& measured() const { return measured_; }
  std::vector<Standing> standings() const;
  int runs() const { return runs_; }
  int passed_over() const;  // never run: they promised too little
  // The most runs still to come: for a progress bar.
  int runs_left() const;

 private:
  bool tried(std::size_t i) const { return measured_[i].failed || !measured_[i].costs.empty(); }
  void add(int candidate, double cost);
  std::optional<int> next_of_survey() const;
  std::optional<int> best() const;
  void climb();
  int unconfirmed() const;
  int runs_to_confirm() const;
  bool are_level() const;
  void queue(std::vector<int> const& candidates, int repetitions);
  int most_runs() const;

  std::vector<Candidate> candidates_;
  std::vector<Measured> measured_;
  SearchOptions options_;
  std::vector<int> in_race_;  // of the current rung
  std::vector<int> to_run_;   // of it, from the back
  std::mt19937_64 random_;
  bool surveying_ = true;
  int rung_ = 0;
  int runs_ = 0;
};

}  // namespace nigh::tune
