// SPDX-License-Identifier: Apache-2.0
#pragma once
// When is a region run with another team than it has, to learn how many threads it can use?
//
// A trial is some runs with another team, as a rule a smaller one, alternating with runs of the
// usual one, so that both are compared under the same conditions. It begins only if it can be
// afforded. Its runs take at most j / k times as long with k threads as with j; that worst case,
// plus the cost of all earlier trials of this region, must be less than a hundredth of the time the
// region has taken (two hundredths when others would use the cpus). So a region that is long or
// rare is never tried with fewer threads, and a region that recurs pays at most that much, once:
// when the sizes around its maximum are known, there is nothing more to try.
//
// A region whose runs differ among themselves is left alone, for a comparison would say nothing. It
// is looked at again when four times as much can be afforded.
//
// A learnt maximum is tried again with a larger team, within the same budget: when the region has
// run for ten times as long as at the last such trial, and at once where all knowledge comes from
// an earlier run of the program. So a wrong maximum does not last.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "policy/cpus/region_scaling.hpp"

namespace nigh::policy {

// The most telling size that is not known yet, up to the largest known one; 0: none. First halves,
// as long as they lose nothing. Then the sizes around the fastest one, if the true one may lie
// between two known sizes: below it, where a region gains up to some size and not beyond; above it,
// where it still gained a lot before more threads stopped helping.
inline int size_to_try(RegionScaling::Known const& known) noexcept {
  if (known.count == 0) return 0;
  KnownSize const* const fast = &known.fast();
  if (fast == known.begin()) return fast->threads / 2;
  KnownSize const *const below = fast - 1, *const above = fast + 1;
  if (above == known.end()) return 0;  // it may gain beyond
  int const narrow = std::max(1, fast->threads / 4);
  if (fast->threads - below->threads > narrow) return (below->threads + fast->threads) / 2;
  constexpr double a_lot = 0.8;  // of what would be ideal
  bool const gained =
      below->time.median * below->threads >= a_lot * fast->time.median * fast->threads;
  if (gained && above->threads - fast->threads > narrow)
    return (fast->threads + above->threads) / 2;
  return 0;
}

// Whether a region should have no more threads than its maximum even where its program holds more
// cpus. Only if larger teams lose clearly more than waking sleeping threads takes: a short region
// pays for that when it is the first after a pause, and if it had one thread, the next region would
// pay.
inline bool is_worth_a_smaller_team(RegionScaling const& scaling) noexcept {
  constexpr double to_wake_ns = 250'000, clearly = 0.1;
  auto const known = scaling.known();
  if (known.count == 0) return false;
  auto const fast_ns = known.fast().time.median;
  auto const lost_ns = (known.end() - 1)->time.median - fast_ns;
  return lost_ns > std::max(to_wake_ns, clearly * fast_ns);
}

class RegionProbe {
 public:
  static constexpr int runs = 8;  // of a trial with its team, at most

  // In runs outside of trials.
  void spend(double time_ns) noexcept { spent_ += time_ns; }
  // In runs of the program before this one.
  void recall(double time_ns) noexcept {
    spent_ += time_ns;
    is_recalled_ = true;
  }

  // The size to try now: at most `percent` of the time spent goes into trials. 0: none. On a host
  // that others use, nothing is certain (RegionScaling::observe).
  int affordable(RegionScaling const& scaling, int team, int percent,
                 bool is_shared = false) const noexcept {
    auto const known = is_shared ? scaling.known() : scaling.known().certain();
    int const size = size_to_try(known);
    auto const* const usual = known.find(team);
    if (size == 0 || usual == nullptr || (is_shared && size > team)) return 0;
    double longest = 0;
    for (KnownSize const& k : known) {
      double const bound = k.time.median * k.threads / size;
      if (k.threads > size && (longest == 0 || bound < longest)) longest = bound;
    }
    double const cost = runs * std::max(0.0, longest - usual->time.median);
    return can_afford(cost, percent) ? size : 0;
  }

  // A team larger than the region's maximum, to check the maximum: the largest that has run, or
  // twice as many, alternating. 0: it is too early.
  int doubtful(RegionScaling const& scaling, int team, int most, int percent) const noexcept {
    auto const known = scaling.known().certain();
    auto const* const usual = known.find(team);
    auto const demand = scaling.demand(most);
    if (usual == nullptr || !demand || demand->maximum >= most) return 0;
    if (!is_recalled_ && spent_ < rests_for * concluded_) return 0;
    int const largest = std::min(most, (known.end() - 1)->threads);
    int const twice = std::min(most, 2 * demand->maximum);
    int const size = doubts_ % 2 == 0 ? std::max(largest, twice) : twice;
    if (size <= std::max(team, demand->maximum)) return 0;
    auto const* const larger = known.find(size);
    // A run that takes longer than it should ends the trial (TrialRuns::takes_too_long).
    double const longest = larger != nullptr ? larger->time.median : 2 * usual->time.median;
    double const cost = runs * std::max(usual->time.median / 4, longest - usual->time.median);
    return can_afford(cost, percent) ? size : 0;
  }

  void begin(RegionScaling const& scaling, int size, int team) noexcept {
    trial_ = {};
    trial_.other.threads = size;
    trial_.usual.threads = team;
    trial_.expected = scaling.known().find(team)->time.median;
    if (size > team) ++doubts_, is_recalled_ = false;
  }
  bool is_under_way() const noexcept { return trial_.other.threads != 0; }
  int size() const noexcept { return trial_.other.threads; }
  int usual_team() const noexcept { return trial_.usual.threads; }
  double expected_ns() const noexcept { return trial_.expected; }
  // Time between two reports in which the region does nothing else.
  std::int64_t longest_pause_ns() const noexcept {
    auto const fewer = std::max(1.0, 1.0 * trial_.usual.threads / std::max(1, size()));
    auto const longest = 4 * trial_.expected * fewer;
    return static_cast<std::int64_t>(std::min(longest, 1e18));
  }

  // A run of the trial. True when the trial is over; `scaling` then knows its result.
  bool observe(RegionScaling& scaling, int threads, std::int64_t duration_ns,
               bool is_doubtful = false) noexcept {
    trial_.is_doubtful |= is_doubtful;
    // Every other run is reported.
    if (threads == trial_.other.threads)
      cost_ += 2 * std::max(0.0, static_cast<double>(duration_ns) - trial_.expected);
    if (!trial_.other.add(threads, duration_ns) && !trial_.usual.add(threads, duration_ns))
      return give_up(), true;  // the team has changed
    bool const is_full = trial_.other.is_full() && trial_.usual.is_full();
    auto const other = trial_.other.time(), usual = trial_.usual.time();
    bool const is_alike = other.is_steady() && usual.is_steady() && is_as_expected(usual.median);
    if (!trial_.other.is_enough() || !trial_.usual.is_enough() || (!is_alike && !is_full))
      return false;
    if (!is_alike) return give_up(), true;
    for (Runs const* r : {&trial_.other, &trial_.usual})
      scaling.begin_anew(r->threads, trial_.is_doubtful);
    for (Runs const* r : {&trial_.other, &trial_.usual})
      for (std::size_t i = 0; i < r->count; ++i)
        scaling.observe(r->threads, r->durations[i], trial_.is_doubtful);
    end();
    return true;
  }

  // The trial came to nothing.
  void give_up() noexcept {
    end();
    patience_ *= 4;
  }

  // A run with the trial's team took longer than any should: no more of them.
  void cut(std::int64_t duration_ns) noexcept {
    cost_ += std::max(0.0, static_cast<double>(duration_ns) - trial_.expected);
    end();
    patience_ *= 2;
  }

 private:
  struct Runs {
    int threads = 0;
    std::size_t count = 0;
    std::array<std::int64_t, 5> durations{};

    bool add(int team, std::int64_t duration_ns) noexcept {
      if (team != threads) return false;
      if (!is_full()) durations[count++] = duration_ns;
      return true;
    }
    bool is_full() const noexcept { return count == durations.size(); }
    bool is_enough() const noexcept { return count >= RegionScaling::enough; }
    Typical time() const noexcept {
      if (count == 0) return {};
      auto sorted = durations;
      std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
      return Typical::of(sorted, count);
    }
  };
  struct Trial {
    Runs other, usual;
    double expected = 0;
    bool is_doubtful = false;
  };
  // a maximum is checked again when it has run for so many times as long
  static constexpr double rests_for = 10;

  bool can_afford(double cost, int percent) const noexcept {
    return (cost_ + cost) * patience_ * 100 <= spent_ * percent;
  }
  void end() noexcept {
    trial_ = {};
    concluded_ = spent_;
  }

  bool is_as_expected(double median) const noexcept {
    return median <= 1.25 * trial_.expected && trial_.expected <= 1.25 * median;
  }

  Trial trial_;
  double spent_ = 0;
  double cost_ = 0;  // what trials took longer
  double patience_ = 1;
  double concluded_ = 0;  // what was spent when the last trial ended
  int doubts_ = 0;
  bool is_recalled_ = false;
};

}  // namespace nigh::policy
