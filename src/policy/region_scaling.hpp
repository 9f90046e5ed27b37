// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many threads can a region use? Learnt from how long it took with teams of different sizes.
//
// The time of n threads is taken to be serial + parallel / n. Two sizes tell both parts: the
// smallest, and the smallest of those that nothing beats by 5%. A size counts from its third run
// on, by the median of its last five, so that a disturbed run changes nothing, and as long as these
// do not differ by more than a quarter.
//
// A region that becomes another one (a larger input, other neighbours) shows by three runs in a row
// that take half as long again as they used to, or less than two thirds: what was known of other
// sizes is then forgotten.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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

// Some runs, in order of their durations, as one value: the middle one, and how far those around it
// are apart, as part of it. Of five, the longest and the shortest do not count.
struct Typical {
  double median = 0;
  double spread = 0;

  template <class Durations>
  static constexpr Typical of(Durations const& sorted, std::size_t count) noexcept {
    auto const at = [&](std::size_t i) { return static_cast<double>(sorted[i]); };
    auto const median = at(count / 2);
    auto const apart = count < 5 ? at(count - 1) - at(0) : at(count - 2) - at(1);
    return {median, median > 0 ? apart / median : 0};
  }
  constexpr bool is_steady() const noexcept { return spread <= 0.25; }
};

// What is known of a region with teams of one size.
struct KnownSize {
  int threads = 0;
  Typical time;
  std::uint64_t runs = 0;
};

class RegionScaling {
 public:
  static constexpr std::size_t sizes = 8;     // of teams that are known at a time
  static constexpr std::uint64_t enough = 3;  // runs
  // As good as the fastest.
  static constexpr double hardly_slower = 1.05;

  // True if the region is another one than it was.
  bool observe(int threads, std::int64_t duration_ns) noexcept {
    Size& size = size_of(threads);
    size.durations[size.count % kept] = duration_ns;
    ++size.count;
    size.seen = ++observed_;
    if (size.count <= kept) size.usual = size.count < enough ? 0 : size.time().median;
    if (!size.has_changed()) return false;
    forget_all_but(size);
    return true;
  }

  // What somebody has observed before.
  void recall(int threads, std::int64_t median_ns, std::uint64_t runs) noexcept {
    Size& size = size_of(threads);
    size.count = runs;
    size.durations.fill(median_ns);
    size.seen = ++observed_;
    size.usual = runs < enough ? 0 : static_cast<double>(median_ns);
  }

  // By number of threads. If `all`, those too that have not run often enough, or too differently.
  struct Known {
    std::array<KnownSize, sizes> by_threads{};
    std::size_t count = 0;

    KnownSize const* begin() const noexcept { return by_threads.data(); }
    KnownSize const* end() const noexcept { return begin() + count; }
    KnownSize const* find(int threads) const noexcept {
      auto const* const found =
          std::find_if(begin(), end(), [&](KnownSize const& k) { return k.threads == threads; });
      return found == end() ? nullptr : found;
    }
    // The smallest team that no other beats. Not of nothing.
    KnownSize const& fast() const noexcept {
      auto const best = std::min_element(begin(), end(), [](auto const& a, auto const& b) {
                          return a.time.median < b.time.median;
                        })->time.median;
      return *std::find_if(begin(), end(), [&](KnownSize const& k) {
        return k.time.median <= hardly_slower * best;
      });
    }
  };
  Known known(bool all = false) const noexcept {
    Known k;
    for (Size const& size : sizes_)
      if (all ? size.count > 0 : size.count >= enough && size.time().is_steady())
        k.by_threads[k.count++] = {size.threads, size.time(), size.count};
    std::sort(k.by_threads.begin(), k.by_threads.begin() + static_cast<std::ptrdiff_t>(k.count),
              [](auto const& a, auto const& b) { return a.threads < b.threads; });
    return k;
  }

  // Nothing until two sizes are known.
  std::optional<ThreadDemand> demand(int most) const noexcept {
    auto const k = known();
    if (k.count < 2) return std::nullopt;
    TimedTeam const small = timed(*k.begin());
    TimedTeam const fast = timed(k.fast());
    if (fast.threads == small.threads) {
      int const n = std::min(small.threads, most);
      return ThreadDemand{n, n};
    }
    // Beyond the fastest size, what was seen counts more than the model.
    bool const is_known_beyond = (k.end() - 1)->threads > fast.threads;
    auto found = demand_by_two(small, fast, is_known_beyond ? std::min(most, fast.threads) : most);
    // A region may do well up to some size and no better with more, as where memory is the limit:
    // then smaller sizes know its optimum.
    for (auto const& size : k)
      if (small.threads < size.threads && size.threads < fast.threads) {
        auto const at_least = demand_by_two(small, timed(size), std::min(most, size.threads));
        found.optimal = std::max(found.optimal, at_least.optimal);
      }
    found.maximum = std::max(found.maximum, found.optimal);
    return found;
  }

  // Speedup over one thread, by thread, of a team of so many. Nothing until two sizes are known.
  std::optional<double> efficiency(int threads) const noexcept {
    auto const k = known();
    if (k.count < 2) return std::nullopt;
    TimedTeam const small = timed(*k.begin());
    TimedTeam const fast = timed(k.fast());
    if (fast.threads == small.threads)
      return std::min(1.0, static_cast<double>(small.threads) / threads);
    return parts_by_two(small, fast).efficiency(threads);
  }

 private:
  static constexpr std::uint64_t kept = 5;
  static constexpr double change = 1.5;

  struct Size {
    int threads = 0;  // 0: room for one
    std::uint64_t count = 0;
    std::uint64_t seen = 0;  // when last, among all observations
    double usual = 0;        // what it took when it was first known
    std::array<std::int64_t, kept> durations{};

    Typical time() const noexcept {
      auto sorted = durations;
      auto const n = static_cast<std::size_t>(std::min(count, kept));
      std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n));
      return Typical::of(sorted, n);
    }
    double last(std::uint64_t i) const noexcept {
      return static_cast<double>(durations[(count - 1 - i) % kept]);
    }
    bool has_changed() const noexcept {
      if (usual <= 0 || count <= kept) return false;
      bool longer = true, shorter = true;
      for (std::uint64_t i = 0; i < enough; ++i) {
        longer &= last(i) > usual * change;
        shorter &= last(i) * change < usual;
      }
      return longer || shorter;
    }
  };

  static constexpr TimedTeam timed(KnownSize const& k) noexcept {
    return {k.threads, k.time.median};
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

  void forget_all_but(Size& size) noexcept {
    Size anew;
    anew.threads = size.threads;
    anew.seen = size.seen;
    for (std::uint64_t i = 0; i < enough; ++i)
      anew.durations[anew.count++] = size.durations[(size.count - 1 - i) % kept];
    anew.usual = anew.time().median;
    sizes_.fill({});
    sizes_[0] = anew;
  }

  std::array<Size, sizes> sizes_{};
  std::uint64_t observed_ = 0;
};

}  // namespace nigh::policy
