// SPDX-License-Identifier: Apache-2.0
#pragma once
// SpreadChoice: how large are a loop's blocks, how many workers work on one, how many at all?
//
// One object for each loop site: told how long each iteration took, and asked for the next one's
// configuration. It searches (SpreadSearch), then holds what it found.
//
//   searching --over--> holding --median off by 10%, 5 times--> searching anew, within its means
//                          ^------------------------- over ------------------------'
//
// From the end of the first search on, trials may cost a hundredth of the time that has passed
// since: the cost of a trial is what its iteration takes longer than one of the held configuration.
// So a later search is spread over many iterations, and at least every other one is a held one: the
// value to compare with may be changing, too.
//
// Where iterations of one configuration differ among themselves, a comparison would say nothing:
// the usual configuration is held.
//
// Reads no clock and starts no thread. Ranks that share a loop give each the longest of their
// times, and so agree.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "policy/spread/spread_search.hpp"

namespace nigh::policy {

// The result worth keeping from one run to the next.
struct SpreadState {
  SpreadConfig held;
  double seconds = 0;  // of an iteration
};

class SpreadChoice {
 public:
  SpreadChoice(SpreadSpace space, SpreadConfig usual)
      : space_(std::move(space)),
        usual_(usual),
        held_(usual),
        search_(std::in_place, space_, usual) {}

  // Goes on from the result of an earlier run.
  SpreadChoice(SpreadSpace space, SpreadConfig usual, SpreadState const& earlier)
      : space_(std::move(space)), usual_(usual), held_(earlier.held), has_held_(true) {
    expected_ = earlier.seconds;
  }

  SpreadConfig const& next() const noexcept { return is_trial() ? search_->wants() : held_; }

  // An iteration with next() took so long.
  void took(double seconds) {
    bool const tried = is_trial();
    if (has_held_) since_held_ += seconds;
    if (tried) {
      if (has_held_) trials_cost_ += std::max(0.0, seconds - recent_median_);
      search_->give(seconds);
      if (search_->is_over()) hold();
    } else {
      watch(seconds);
    }
    may_try_ = !tried && can_afford_a_trial();
  }

  bool is_holding() const noexcept { return !search_.has_value(); }
  SpreadConfig const& held() const noexcept { return held_; }
  SpreadState state() const noexcept { return {held_, expected_}; }
  int trials() const noexcept { return trials_ + (search_ ? search_->trials() : 0); }
  // The part of the time since it first held a configuration that trials cost.
  double cost_share() const noexcept { return since_held_ > 0 ? trials_cost_ / since_held_ : 0; }

 private:
  static constexpr double drift = 0.1, affordable = 0.01;
  static constexpr int drifts_to_search = 5;
  static constexpr std::size_t window = 5;

  bool is_trial() const noexcept { return search_.has_value() && (!has_held_ || may_try_); }

  // A trial of a configuration that is not known to be slower may take twice as long.
  bool can_afford_a_trial() const noexcept {
    return trials_cost_ + recent_median_ <= affordable * since_held_;
  }

  void hold() {
    held_ = search_->best();
    trials_ += search_->trials();
    search_.reset();
    has_held_ = true;
    expected_ = 0;
    seen_ = 0;
    drifts_ = 0;
  }

  // An iteration of the held configuration.
  void watch(double seconds) {
    recent_[seen_++ % window] = seconds;
    if (seen_ < window) return;
    auto sorted = recent_;
    std::nth_element(sorted.begin(), sorted.begin() + window / 2, sorted.end());
    recent_median_ = sorted[window / 2];
    if (expected_ == 0) expected_ = recent_median_;
    drifts_ = std::abs(recent_median_ - expected_) > drift * expected_ ? drifts_ + 1 : 0;
    if (drifts_ < drifts_to_search) return;
    drifts_ = 0;
    expected_ = recent_median_;
    if (search_) trials_ += search_->trials();
    search_.reset();
    if (!SpreadSearch::differ(recent_)) search_.emplace(space_, usual_, held_);
  }

  SpreadSpace space_;
  SpreadConfig usual_, held_;
  std::optional<SpreadSearch> search_;
  std::array<double, window> recent_{};
  std::size_t seen_ = 0;
  int drifts_ = 0;
  int trials_ = 0;
  bool has_held_ = false;
  bool may_try_ = false;
  double expected_ = 0;  // median of the held configuration's iterations when it was first held
  double recent_median_ = 0;
  double since_held_ = 0;  // seconds
  double trials_cost_ = 0;
};

}  // namespace nigh::policy
