// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search of SpreadChoice: which configuration is measured next, and which was the best?
//
//   the first --> spreads --> active workers --> grains --> spread and grain --> beside the usual
//   one
//                   ^--------------- again, while that has led elsewhere ---------------'
//
// Along one coordinate all values are tried, outwards from the present one, up first: a block may
// fit a cache at a spread whose neighbours gain nothing, so there is no hill to climb. A candidate
// gets two samples and counts with the smaller one, for disturbances only make runs longer; it is
// dropped after one if that is clearly worse. The search moves only for a gain above noise. In the
// end the best is compared with the usual one once more, alternating: the smallest of many noisy
// figures is too small.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace nigh::policy {

struct SpreadConfig {
  int grain = 1;   // of the blocks, in the loop's own unit
  int spread = 1;  // workers of a team
  int active = 1;  // workers that are at work, of all teams; not fewer than a team has

  bool operator==(SpreadConfig const&) const = default;
};

// The values to choose from, each list ascending. One value: nothing to choose.
struct SpreadSpace {
  std::vector<int> spreads{1}, actives{1}, grains{1};

  std::size_t size() const noexcept { return spreads.size() * actives.size() * grains.size(); }
};

class SpreadSearch {
 public:
  static constexpr int most_trials = 20;

  // Both belong to the space.
  SpreadSearch(SpreadSpace space, SpreadConfig usual, SpreadConfig start)
      : space_(std::move(space)), usual_(usual), best_{start, {}} {
    begin(start);
  }
  SpreadSearch(SpreadSpace space, SpreadConfig usual)
      : SpreadSearch(std::move(space), usual, usual) {}

  bool is_over() const noexcept { return state_ == State::over; }
  SpreadConfig const& wants() const noexcept { return trial_.config; }
  SpreadConfig const& best() const noexcept { return best_.config; }
  int trials() const noexcept { return trials_; }

  // How long an iteration with wants() took.
  void give(double seconds) {
    NIGH_ASSERT(!is_over(), "a search that is over wants nothing");
    trial_.add(seconds);
    switch (state_) {
      case State::first:
        return after_first();
      case State::scan:
        return after_scan();
      case State::compare:
        return after_compare();
      case State::over:
        return;
    }
  }

  // True if samples of one configuration differ so much that another one could not be told apart.
  // One outlier is a disturbance, two are a habit.
  template <class Samples>
  static bool differ(Samples const& samples) {
    constexpr double alike = 1.25;
    double const least = *std::min_element(samples.begin(), samples.end());
    return std::count_if(samples.begin(), samples.end(),
                         [&](double s) { return s > alike * least; }) >= 2;
  }

 private:
  static constexpr double clearly_worse = 1.15, hopeless_way = 2, gain = 0.98;
  static constexpr std::size_t samples_each = 2, samples_to_judge = 5, samples_to_compare = 6;

  enum class State : unsigned char { first, scan, compare, over };

  struct Tried {
    SpreadConfig config;
    std::vector<double> samples;

    void add(double s) { samples.push_back(s); }
    double least() const noexcept {
      return samples.empty() ? 0 : *std::min_element(samples.begin(), samples.end());
    }
    double median() const {
      auto sorted = samples;
      std::sort(sorted.begin(), sorted.end());
      return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
    }
  };
  struct Candidate {
    SpreadConfig config;
    bool up = false;
  };

  void begin(SpreadConfig const& config) {
    trial_ = {config, {}};
    ++trials_;
  }

  // Two samples that agree are enough; otherwise five tell whether any two agree.
  void after_first() {
    auto const n = trial_.samples.size();
    auto const [least, most] = std::minmax_element(trial_.samples.begin(), trial_.samples.end());
    if (n < samples_each || (n < samples_to_judge && *most > clearly_worse * *least)) return;
    tried_.push_back(trial_);
    best_ = trial_;
    // Nothing can be learnt: runs of one configuration differ as much as others might.
    if (n == samples_to_judge && differ(trial_.samples)) {
      state_ = State::over;
      return;
    }
    state_ = State::scan;
    if (best_.config != usual_) candidates_ = {{usual_, true}};
    next();
  }

  void after_scan() {
    double const one = trial_.samples.back();
    bool const dropped = trial_.samples.size() == 1 && one > clearly_worse * best_.least();
    if (trial_.samples.size() < samples_each && !dropped) return;
    tried_.push_back(trial_);
    if (dropped && one > hopeless_way * best_.least())
      std::erase_if(candidates_, [up = up_](Candidate const& r) { return r.up == up; });
    next();
  }

  // The usual one and the best, some samples each: u b b u u b b u ..., so that a loop whose work
  // grows or shrinks from one iteration to the next favours neither.
  void after_compare() {
    (trial_.config == usual_ ? usual_again_ : best_again_).add(trial_.samples.back());
    auto const done = usual_again_.samples.size() + best_again_.samples.size();
    if (done == 2 * samples_to_compare) {
      best_ = best_again_.median() < gain * usual_again_.median() ? best_again_ : usual_again_;
      state_ = State::over;
      return;
    }
    trial_ = {(done + 1) / 2 % 2 == 0 ? usual_ : best_.config, {}};
  }

  void next() {
    bool const may_try = trials_ < most_trials - 1;  // one is for the comparison
    if (candidates_.empty() || !may_try) {
      move();
      return may_try ? scan() : finish();
    }
    up_ = candidates_.front().up;
    begin(candidates_.front().config);
    candidates_.erase(candidates_.begin());
  }

  void move() {
    auto const least =
        std::min_element(tried_.begin(), tried_.end(),
                         [](Tried const& a, Tried const& b) { return a.least() < b.least(); });
    if (least->least() >= gain * best_.least()) return;
    best_ = *least;
    moved_ = true;
  }

  // The next coordinate with something to try.
  void scan() {
    do {
      if (axis_ == axes && !std::exchange(moved_, false)) return finish();
      axis_ %= axes;
      candidates_ = candidates_of(axis_++);
    } while (candidates_.empty());
    next();
  }

  void finish() {
    if (best_.config == usual_) {
      state_ = State::over;
      return;
    }
    state_ = State::compare;
    usual_again_.config = usual_;
    best_again_.config = best_.config;
    begin(usual_);
  }

  static constexpr std::size_t axes = 4;  // the last one: spread and grain at once
  static int& member(SpreadConfig& c, std::size_t axis) noexcept {
    return axis == 0 ? c.spread : axis == 1 ? c.active : c.grain;
  }
  std::vector<int> const& values(std::size_t axis) const noexcept {
    return axis == 0 ? space_.spreads : axis == 1 ? space_.actives : space_.grains;
  }
  bool is_tried(SpreadConfig const& c) const noexcept {
    return std::any_of(tried_.begin(), tried_.end(), [&](Tried const& t) { return t.config == c; });
  }

  static std::size_t index(std::vector<int> const& ascending, int value) noexcept {
    return static_cast<std::size_t>(std::lower_bound(ascending.begin(), ascending.end(), value) -
                                    ascending.begin());
  }

  std::vector<Candidate> candidates_of(std::size_t axis) const {
    std::vector<Candidate> all;
    auto const add = [&](SpreadConfig const& c, bool up) {
      if (c.spread <= c.active && !is_tried(c)) all.push_back({c, up});
    };
    if (axis + 1 == axes) {
      auto const s = index(space_.spreads, best_.config.spread);
      auto const g = index(space_.grains, best_.config.grain);
      for (auto i = s - 1; i != s + 3; i += 2)  // one below a first one is beyond the last one
        for (auto j = g - 1; j != g + 3; j += 2)
          if (i < space_.spreads.size() && j < space_.grains.size())
            add({space_.grains[j], space_.spreads[i], best_.config.active}, i > s);
      return all;
    }
    auto const& ascending = values(axis);
    auto config = best_.config;
    auto const at = index(ascending, member(config, axis));
    auto const add_value = [&](std::size_t i, bool up) {
      member(config, axis) = ascending[i];
      add(config, up);
    };
    for (auto i = at + 1; i < ascending.size(); ++i) add_value(i, true);
    for (auto i = std::min(at, ascending.size()); i-- > 0;) add_value(i, false);
    return all;
  }

  SpreadSpace space_;
  SpreadConfig usual_;
  State state_ = State::first;
  Tried trial_, best_;
  Tried usual_again_, best_again_;
  std::vector<Tried> tried_;
  std::vector<Candidate> candidates_;
  std::size_t axis_ = 0;  // the next one
  bool up_ = false;       // this trial's value is above the present one
  bool moved_ = false;    // in this round
  int trials_ = 0;
};

}  // namespace nigh::policy
