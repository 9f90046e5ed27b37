// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many threads can a region use? Learnt from how long it took with teams of different sizes.
//
// The time of n threads is modelled as serial + parallel / n. Two sizes determine both parts: the
// smallest one, and the smallest that is as good as all larger ones. A size counts from its third
// run on, by the median of its last five, so that a disturbed run changes nothing, and as long as
// these differ by at most a quarter; while they differ more, for a while, by the last five that did
// not.
//
// Nothing follows from differences within noise: two sizes differ if their medians do by more than
// 5% and by more than twice both spreads together (with five runs of pure noise, fewer than one
// pair in a hundred does). A region in which no two sizes differ is indifferent, as one that
// sleeps: then nothing is said about the threads it can use.
//
// Runs on a host that others use, too, are doubtful: they are kept only for sizes without better
// runs, and say nothing about a maximum.
//
// A region that changes (a larger input, other neighbours) shows it by three runs in a row that
// take half as long again as before, or less than two thirds: what was known of other sizes is then
// forgotten.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "policy/cpus/thread_count.hpp"

namespace nigh::policy {

struct TimedTeam {
  int threads = 1;
  double duration = 0;  // in any unit
};

// The parts that follow from two sizes. Where the larger one is the slower, as by noise, all is
// serial.
struct RegionParts {
  double serial = 0;
  double parallel = 0;

  double efficiency(
      int threads) const noexcept {  // speedup over one thread, divided by the threads
    return (serial + parallel) / (serial * threads + parallel);
  }
};
constexpr RegionParts parts_by_two(TimedTeam small, TimedTeam fast) noexcept {
  double const parallel =
      std::max(0.0, (small.duration - fast.duration) * small.threads * fast.threads /
                        (fast.threads - small.threads));
  return {std::max(0.0, fast.duration - parallel / fast.threads), parallel};
}

// The thread counts for this, at most `most`:
//   optimal: speedup over one thread is at least 80% of ideal, n <= 1.25 + parallel / (4 serial)
//   maximum: twice as many would save less than 5% of the time, n = 9 parallel / serial
constexpr ThreadDemand demand_by_two(TimedTeam small, TimedTeam fast, int most) noexcept {
  auto const [serial, parallel] = parts_by_two(small, fast);
  auto const at_most = [&](double n) { return n < most ? std::max(1, static_cast<int>(n)) : most; };
  if (serial * most * 36 <= parallel) return {most, most};  // also avoids a division by 0
  int const optimal = at_most(1.25 + parallel / (4 * serial));
  return {std::max(optimal, at_most(9 * parallel / serial)), optimal};
}
static_assert(demand_by_two({1, 100}, {2, 50}, 32) == ThreadDemand{32, 32});
static_assert(demand_by_two({1, 100}, {2, 55}, 32) == ThreadDemand{32, 3});  // a tenth is serial
static_assert(demand_by_two({2, 55}, {4, 32.5}, 32) == ThreadDemand{32, 3});
static_assert(demand_by_two({1, 100}, {4, 85}, 32) == ThreadDemand{2, 1});

// Some runs, sorted by duration, as one value: the middle one, and how far apart those around it
// are, relative to it. Of five, the longest and the shortest do not count.
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

// How long one takes beside another.
enum class Compared : std::uint8_t {
  faster,
  alike,
  slower,
  unclear,  // they differ within noise, or the noise would hide a difference
};
inline constexpr double alike_within = 0.05;

constexpr Compared compare(Typical a, Typical b) noexcept {
  double const apart = a.median - b.median;
  double const noise = a.spread * a.median + b.spread * b.median;
  double const little = alike_within * std::min(a.median, b.median);
  double const much = std::max(2 * noise, little);
  if (apart > much) return Compared::slower;
  if (-apart > much) return Compared::faster;
  bool const is_small = -little <= apart && apart <= little;
  return is_small && noise <= 2 * little ? Compared::alike : Compared::unclear;
}
static_assert(compare({1.000, 0}, {1.004, 0}) == Compared::alike);
static_assert(compare({1.0, 0.01}, {1.1, 0.01}) == Compared::faster);
static_assert(compare({1.1, 0.1}, {1.0, 0.1}) == Compared::unclear);
static_assert(compare({1.0, 0.2}, {1.0, 0.2}) == Compared::unclear);

// The runs of a region with teams of one size.
struct KnownSize {
  int threads = 0;
  Typical time;
  std::uint64_t runs = 0;
  bool is_doubtful = false;  // others used the host
};

class RegionScaling {
 public:
  static constexpr std::size_t sizes = 8;     // of teams that are known at a time
  static constexpr std::uint64_t enough = 3;  // runs

  // True if the region has changed.
  bool observe(int threads, std::int64_t duration_ns, bool is_doubtful = false) noexcept {
    Size& size = size_of(threads);
    if (is_doubtful && !size.is_doubtful && size.count >= enough)
      return observe_beside(size, duration_ns);
    if (size.is_doubtful != is_doubtful) size.begin_anew(is_doubtful);
    size.odd = 0;
    size.durations[size.count % kept] = duration_ns;
    ++size.count;
    size.seen = ++observed_;
    if (size.count <= kept) size.usual = size.count < enough ? 0 : size.time().median;
    size.settle();
    if (!size.has_changed()) return false;
    forget_all_but(size);
    return true;
  }

  // From now on, only runs of the same time are compared with other sizes: earlier ones do not
  // count.
  void begin_anew(int threads, bool is_doubtful) noexcept {
    Size& size = size_of(threads);
    if (is_doubtful && !size.is_doubtful && size.count >= enough) return;
    size.begin_anew(is_doubtful);
  }

  // Runs that were observed earlier.
  void recall(int threads, std::int64_t median_ns, std::uint64_t runs,
              std::int64_t spread_ns = 0) noexcept {
    Size& size = size_of(threads);
    size.is_doubtful = false;
    size.count = runs;
    // From the third run on, the same median and spread.
    auto const half =
        runs < enough ? 0 : std::min({spread_ns / 2, median_ns - 1, INT64_MAX - median_ns});
    size.durations = {median_ns - half, median_ns, median_ns + half, median_ns - half,
                      median_ns + half};
    size.seen = ++observed_;
    size.usual = runs < enough ? 0 : static_cast<double>(median_ns);
    size.settled_at = 0;
    size.settle();
  }

  // By number of threads. If `all`, also sizes that have not run often enough, or that vary too
  // much.
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
    // The smallest team that is as good as every larger one, as far as that is clear. Not for an
    // empty list.
    KnownSize const& fast() const noexcept {
      return *std::find_if(begin(), end(), [this](KnownSize const& k) {
        return std::all_of(&k + 1, end(), [&](KnownSize const& larger) {
          auto const c = compare(k.time, larger.time);
          return c == Compared::alike || c == Compared::faster;
        });
      });
    }
    // Whether the number of threads matters. False for fewer than two sizes.
    bool has_differences() const noexcept {
      for (auto const* a = begin(); a != end(); ++a)
        for (auto const* b = a + 1; b != end(); ++b)
          if (auto const c = compare(a->time, b->time);
              c == Compared::faster || c == Compared::slower)
            return true;
      return false;
    }
    Known certain() const noexcept {
      Known some;
      for (KnownSize const& k : *this)
        if (!k.is_doubtful) some.by_threads[some.count++] = k;
      return some;
    }
  };
  Known known(bool all = false) const noexcept {
    Known k;
    for (Size const& size : sizes_)
      if (all ? size.count > 0 : size.count >= enough && size.lasting().is_steady())
        k.by_threads[k.count++] = {size.threads, size.lasting(), size.count, size.is_doubtful};
    std::sort(k.by_threads.begin(), k.by_threads.begin() + static_cast<std::ptrdiff_t>(k.count),
              [](auto const& a, auto const& b) { return a.threads < b.threads; });
    return k;
  }

  // Nothing until two sizes differ. Doubtful runs give an optimum for when cpus are scarce, but no
  // maximum.
  std::optional<ThreadDemand> demand(int most) const noexcept {
    auto const all = known();
    if (auto const certain = demand_by(all.certain(), most)) return certain;
    auto doubtful = demand_by(all, most);
    if (doubtful) doubtful->maximum = most;
    return doubtful;
  }

  // Of teams of any size, whatever it says.
  bool is_known() const noexcept { return known().certain().count > 0; }
  // Certainly known with teams from one thread on, and no size is better than another.
  bool is_indifferent() const noexcept {
    auto const k = known().certain();
    return k.count >= 2 && k.begin()->threads == 1 && &k.fast() == k.begin() &&
           !k.has_differences();
  }

  // Speedup over one thread, divided by the threads, of a team of so many. Nothing until two sizes
  // are known.
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
  static constexpr std::uint64_t settles_within = 4 * kept;
  static constexpr double change = 1.5;

  static std::optional<ThreadDemand> demand_by(Known const& k, int most) noexcept {
    if (!k.has_differences()) return std::nullopt;
    TimedTeam const small = timed(*k.begin());
    TimedTeam const fast = timed(k.fast());
    if (fast.threads == small.threads) {
      int const n = std::min(small.threads, most);
      return ThreadDemand{n, n};
    }
    // Beyond the fastest size, observations count more than the model.
    bool const is_known_beyond = (k.end() - 1)->threads > fast.threads;
    if (compare(k.fast().time, k.begin()->time) != Compared::faster) {
      int const n = is_known_beyond ? std::min(most, fast.threads) : most;
      return ThreadDemand{n, (n + 1) / 2};
    }
    auto found = demand_by_two(small, fast, is_known_beyond ? std::min(most, fast.threads) : most);
    // A region may gain up to some size and no further, as where memory is the limit: then smaller
    // sizes give its optimum.
    for (auto const& size : k)
      if (small.threads < size.threads && size.threads < fast.threads) {
        auto const at_least = demand_by_two(small, timed(size), std::min(most, size.threads));
        found.optimal = std::max(found.optimal, at_least.optimal);
      }
    found.maximum = std::max(found.maximum, found.optimal);
    return found;
  }

  struct Size {
    int threads = 0;  // 0: a free entry
    std::uint64_t count = 0;
    std::uint64_t seen = 0;  // when last, among all observations
    double usual = 0;        // its duration when it was first known
    bool is_doubtful = false;
    Typical settled{};  // the value when it was last steady
    std::uint64_t settled_at = 0;
    std::uint64_t odd = 0;  // doubtful runs in a row that contradict what is certain
    std::array<std::int64_t, enough> odd_durations{};
    std::array<std::int64_t, kept> durations{};

    void begin_anew(bool doubtful) noexcept {
      count = 0;
      usual = 0;
      settled_at = 0;
      is_doubtful = doubtful;
    }
    void settle() noexcept {
      if (count < enough || !time().is_steady()) return;
      settled = time();
      settled_at = count;
    }
    Typical lasting() const noexcept {
      auto const now = time();
      bool const was_steady = settled_at > 0 && count - settled_at <= settles_within;
      return was_steady && !now.is_steady() ? settled : now;
    }
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

  // A doubtful run with a size whose value is certain: it only shows whether the region has
  // changed.
  bool observe_beside(Size& size, std::int64_t duration_ns) noexcept {
    auto const took = static_cast<double>(duration_ns);
    auto const usual = size.usual > 0 ? size.usual : size.time().median;
    if (usual / change <= took && took <= usual * change) return size.odd = 0, false;
    size.odd_durations[size.odd++] = duration_ns;
    if (size.odd < enough) return false;
    Size anew;
    anew.threads = size.threads;
    anew.seen = ++observed_;
    anew.is_doubtful = true;
    for (auto const d : size.odd_durations) anew.durations[anew.count++] = d;
    anew.usual = anew.time().median;
    sizes_.fill({});
    sizes_[0] = anew;
    return true;
  }

  static constexpr TimedTeam timed(KnownSize const& k) noexcept {
    return {k.threads, k.time.median};
  }

  // Sizes not seen for longest make room for new ones.
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
    anew.is_doubtful = size.is_doubtful;
    for (std::uint64_t i = 0; i < enough; ++i)
      anew.durations[anew.count++] = size.durations[(size.count - 1 - i) % kept];
    anew.usual = anew.time().median;
    sizes_.fill({});
    sizes_[0] = anew;
  }

  std::array<Size, sizes> sizes_{};
  std::uint64_t observed_ = 0;
};

// How many threads can a region use? The paper's two counts, from a study in which the region ran
// with every size of team (the model above makes do with few sizes).
//
//   maximum   beyond it more threads give no speedup: the smallest team of which no larger one that
//             was measured saves 3% of the time
//   optimal   the largest team up to that whose speedup is within 20% of ideal
//
// A profile keeps neither count of an indifferent region.

inline constexpr double some_speedup = 0.97;
inline constexpr double within_ideal = 0.8;

// Relative to the smallest measured team, whose own speedup counts as ideal.
constexpr double speedup(TimedTeam smallest, TimedTeam team) noexcept {
  return smallest.duration * smallest.threads / team.duration;
}

// By threads, ascending; at least one, and no duration is 0.
constexpr ThreadDemand demand_by_study(std::span<TimedTeam const> teams) noexcept {
  int maximum = teams.back().threads;
  double best_of_larger = teams.back().duration;
  for (auto i = teams.size(); i-- > 0;) {
    if (best_of_larger >= some_speedup * teams[i].duration) maximum = teams[i].threads;
    best_of_larger = std::min(best_of_larger, teams[i].duration);
  }
  int optimal = teams.front().threads;
  for (TimedTeam const& team : teams)
    if (team.threads <= maximum && speedup(teams.front(), team) >= within_ideal * team.threads)
      optimal = team.threads;
  return {maximum, optimal};
}

// No two teams differ beyond noise: it takes as long with any of them.
constexpr bool is_indifferent(std::span<Typical const> teams) noexcept {
  for (auto const& a : teams)
    for (auto const& b : teams)
      if (compare(a, b) == Compared::slower) return false;
  return true;
}

}  // namespace nigh::policy
