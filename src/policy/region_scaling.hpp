// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many threads can a region use? Learnt from how long it took with teams of different sizes.
//
// The time of n threads is taken to be serial + parallel / n. Two sizes tell both parts: the
// smallest, and the fastest of the larger ones. A size counts from its third run on, by the median
// of its last five, so that a disturbed run changes nothing.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "policy/thread_count.hpp"

namespace nigh::policy {

struct TimedTeam {
  int threads = 1;
  double duration = 0;  // in any unit
};

// What two sizes say, the larger being the faster.
struct RegionParts {
  double serial = 0;
  double parallel = 0;

  double efficiency(int threads) const noexcept {  // speedup over one thread, by thread
    return (serial + parallel) / (serial * threads + parallel);
  }
};
constexpr RegionParts parts_by_two(TimedTeam small, TimedTeam fast) noexcept {
  double const parallel = (small.duration - fast.duration) * small.threads * fast.threads /
                          (fast.threads - small.threads);
  return {std::max(0.0, fast.duration - parallel / fast.threads), parallel};
}

// And for how many threads that is work, at most `most`.
//   optimal: speedup over one thread is at least 80% of ideal, n <= 1.25 + parallel / (4 serial)
//   maximum: twice as many would save less than 5% of the time, n = 9 parallel / serial
constexpr ThreadDemand demand_by_two(TimedTeam small, TimedTeam fast, int most) noexcept {
  auto const [serial, parallel] = parts_by_two(small, fast);
  auto const at_most = [&](double n) { return n < most ? std::max(1, static_cast<int>(n)) : most; };
  if (serial * most * 36 <= parallel) return {most, most};  // and no division by nothing
  int const optimal = at_most(1.25 + parallel / (4 * serial));
  return {std::max(optimal, at_most(9 * parallel / serial)), optimal};
}
static_assert(demand_by_two({1, 100}, {2, 50}, 32) == ThreadDemand{32, 32});
static_assert(demand_by_two({1, 100}, {2, 55}, 32) == ThreadDemand{32, 3});  // a tenth is serial
static_assert(demand_by_two({2, 55}, {4, 32.5}, 32) == ThreadDemand{32, 3});
static_assert(demand_by_two({1, 100}, {4, 85}, 32) == ThreadDemand{2, 1});

class RegionScaling {
 public:
  void observe(int threads, std::int64_t duration_ns) noexcept {
    Size& size = size_of(threads);
    size.durations[size.count % kept] = duration_ns;
    ++size.count;
    size.seen = ++observed_;
  }

  // Nothing until two sizes are known.
  std::optional<ThreadDemand> demand(int most) const noexcept {
    auto const known = known_sizes();
    if (!known) return std::nullopt;
    if (!known->scales) {
      int const n = std::min(known->small.threads, most);
      return ThreadDemand{n, n};
    }
    // Beyond the fastest size, what was seen counts more than the model.
    bool const is_worse_beyond = known->largest > known->fast.threads;
    return demand_by_two(known->small, known->fast,
                         is_worse_beyond ? std::min(most, known->fast.threads) : most);
  }

  // Speedup over one thread, by thread, of a team of so many. Nothing until two sizes are known.
  std::optional<double> efficiency(int threads) const noexcept {
    auto const known = known_sizes();
    if (!known) return std::nullopt;
    if (known->scales) return parts_by_two(known->small, known->fast).efficiency(threads);
    return std::min(1.0, static_cast<double>(known->small.threads) / threads);
  }

 private:
  static constexpr std::uint32_t kept = 5, enough = 3;

  struct Size {
    int threads = 0;  // 0: room for one
    std::uint32_t count = 0;
    std::uint64_t seen = 0;  // when last, among all observations
    std::array<std::int64_t, kept> durations{};

    TimedTeam median() const noexcept {
      auto sorted = durations;
      for (auto i = count; i < kept; ++i) sorted[i] = std::numeric_limits<std::int64_t>::max();
      std::sort(sorted.begin(), sorted.end());
      return {threads, static_cast<double>(sorted[std::min(count, kept) / 2])};
    }
  };

  struct KnownSizes {
    TimedTeam small, fast;  // the smallest, and the fastest of the others
    int largest = 0;
    bool scales = false;
  };
  std::optional<KnownSizes> known_sizes() const noexcept {
    KnownSizes all;
    int known = 0;
    for (Size const& size : sizes_) {
      if (size.count < enough) continue;
      ++known;
      if (known == 1 || size.threads < all.small.threads) all.small = size.median();
      all.largest = std::max(all.largest, size.threads);
    }
    if (known < 2) return std::nullopt;
    for (Size const& size : sizes_) {
      if (size.count < enough || size.threads == all.small.threads) continue;
      auto const team = size.median();
      if (all.fast.duration == 0 || team.duration < all.fast.duration) all.fast = team;
    }
    constexpr double some_speedup = 0.97;
    all.scales = all.fast.duration <= some_speedup * all.small.duration;
    return all;
  }

  // Sizes that have not been seen for longest make room for new ones.
  Size& size_of(int threads) noexcept {
    Size* oldest = &sizes_[0];
    for (Size& size : sizes_) {
      if (size.threads == threads) return size;
      if (size.seen < oldest->seen) oldest = &size;
    }
    *oldest = {};
    oldest->threads = threads;
    return *oldest;
  }

  std::array<Size, 8> sizes_{};
  std::uint64_t observed_ = 0;
};

}  // namespace nigh::policy
