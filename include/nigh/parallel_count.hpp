// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_count, parallel_count_if, parallel_histogram: how many elements there are of a kind.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <nigh/detail/fold.hpp>
#include <nigh/detail/owned.hpp>
#include <nigh/detail/sequence.hpp>
#include <nigh/detail/short_lock.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/parallel_for.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {
namespace detail {

// Small elements in stretches of a fixed length with narrow counters, which compilers vectorise at
// -O2, too; others by four counters, so that no addition waits for the one before.
template <class Sequence, class Predicate>
std::size_t count_piece(Sequence const& all, index_range r, Predicate const& predicate) {
  auto const one = [&](std::size_t i) -> std::uint32_t {
    return static_cast<bool>(predicate(*all.at(i))) ? 1 : 0;
  };
  std::size_t found = 0;
  auto at = r.begin;
  if constexpr (sizeof(typename Sequence::value_type) < sizeof(std::size_t)) {
    constexpr std::size_t stretch = 64;
    for (; r.end - at >= stretch; at += stretch) {
      std::uint32_t here = 0;
      for (std::size_t k = 0; k < stretch; ++k) here += one(at + k);
      found += here;
    }
  } else {
    std::size_t a = 0, b = 0, c = 0, d = 0;
    for (; r.end - at >= 4; at += 4) {
      a += one(at);
      b += one(at + 1);
      c += one(at + 2);
      d += one(at + 3);
    }
    found = (a + b) + (c + d);
  }
  for (; at < r.end; ++at) found += one(at);
  return found;
}

template <class Sequence, class Predicate>
std::size_t count_elements(Sequence const& all, Predicate const& predicate,
                           loop_options const& options) {
  static_assert(std::is_invocable_r_v<bool, Predicate const&, typename Sequence::reference>,
                "a predicate takes an element or index and returns bool, and is called as const");
  auto const found = combine_as_it_comes<std::size_t>(
      all.extent(), options,
      [&](index_range r) {
        body_at_hand<Predicate> mine = predicate;
        return count_piece(all, r, mine);
      },
      std::plus<>());
  return found.value_or(0);
}

// Counters of one thread for all bins. Few bins have several sets of counters, used in turn, so
// that an increment need not wait for the one before it in the same bin.
class bin_counters {
 public:
  static constexpr std::size_t few_bins = 256;
  static constexpr std::size_t sets = 4;

  explicit bin_counters(std::size_t bins)
      : bins_(bins),
        counts_(new std::size_t[bins <= few_bins ? sets * bins : bins]()) {}

  template <class Bin>
  void add(index_range r, Bin const& bin_of) {
    auto const apart = bins_ <= few_bins ? bins_ : 0;
    auto* const c = counts_.get();
    auto i = r.begin;
    for (; r.end - i >= sets; i += sets)
      for (std::size_t s = 0; s < sets; ++s) ++c[s * apart + bin_of(i + s)];
    for (; i < r.end; ++i) ++c[bin_of(i)];
  }
  std::size_t count(std::size_t bin) const noexcept {
    auto const* const c = counts_.get();
    if (bins_ > few_bins) return c[bin];
    std::size_t all = 0;
    for (std::size_t s = 0; s < sets; ++s) all += c[s * bins_ + bin];
    return all;
  }

 private:
  std::size_t bins_;
  owned<std::size_t[]> counts_;
};

template <std::integral Bins>
std::size_t bins_of(Bins bins) {
  if (std::cmp_less(+bins, 0))
    throw std::invalid_argument("a histogram of " + std::to_string(bins) + " bins");
  return static_cast<std::size_t>(bins);
}

template <class Sequence, class BinOf>
std::vector<std::size_t> histogram(Sequence const& all, std::size_t bins, BinOf const& bin_of,
                                   loop_options const& options) {
  using reference = typename Sequence::reference;
  static_assert(std::is_invocable_v<BinOf const&, reference>,
                "a histogram's function takes an element or index and returns the number of its "
                "bin, and is called as const");
  static_assert(std::integral<std::remove_cvref_t<std::invoke_result_t<BinOf const&, reference>>>,
                "a histogram's function returns the number of a bin, an integer");
  std::vector<std::size_t> total(bins);
  if (all.count == 0) return total;
  auto const binned = [&all, bins](BinOf const& mine, std::size_t i) {
    auto const bin = mine(*all.at(i));
    auto const b = static_cast<std::size_t>(bin);
    if (b >= bins || std::cmp_less(+bin, 0))
      throw std::out_of_range("a histogram of " + std::to_string(bins) + " bins: element " +
                              std::to_string(i) + " is in bin " + std::to_string(bin));
    return b;
  };
  // Counters for each thread while they are fewer than twice the elements; else all share one set.
  auto const workers = workers_for_loops(options.where) + 1;  // and a caller from outside
  if (bins <= bin_counters::few_bins || bins / 2 <= all.count / workers) {
    short_lock lock;
    std::vector<bin_counters> counters;
    struct work {
      BinOf const& bin_of;
      decltype(binned) const& bin_at;
      std::size_t bins;
      short_lock& lock;
      std::vector<bin_counters>& counters;

      static void run(void* self, loop_part& part) {
        auto& me = *static_cast<work*>(self);
        index_range r;
        if (!next_piece(part, r)) return;
        bin_counters counts(me.bins);
        body_at_hand<BinOf> mine = me.bin_of;
        auto const bin_at = me.bin_at;  // no counter can be part of it
        do {
          counts.add(r, [&](std::size_t i) { return bin_at(mine, i); });
        } while (next_piece(part, r));
        short_lock::guard const guard(me.lock);
        me.counters.push_back(std::move(counts));
      }
    } each{bin_of, binned, bins, lock, counters};
    run_loop(all.extent(), options, {&each, &work::run});
    loop_options joining;
    joining.where = options.where;
    joining.members = options.members;
    joining.grain = 512;
    nigh::parallel_for(
        std::size_t{0}, bins,
        [&](std::size_t b) {
          for (auto const& c : counters) total[b] += c.count(b);
        },
        joining);
  } else {
    each_piece(all.extent(), options, [&](index_range r) {
      body_at_hand<BinOf> mine = bin_of;
      for (auto i = r.begin; i < r.end; ++i)  // relaxed: read after the loop's end
        std::atomic_ref(total[binned(mine, i)]).fetch_add(1, std::memory_order_relaxed);
    });
  }
  return total;
}

}  // namespace detail

// For all algorithms here: what they loop over, options, functions and exceptions are as in
// parallel_transform.hpp. Results do not depend on the threads.

// How many elements the predicate holds for, and how many equal a value, as std::count_if and
// std::count. Calls: one for each element; memory: none.
template <detail::iterable R, detail::function Predicate, detail::loop_choice How = loop_options>
std::size_t parallel_count_if(R&& range, Predicate const& predicate, How const& how = {}) {
  return detail::count_elements(detail::sequence_of(range), predicate,
                                detail::options_near<loop_options>(range, how));
}
template <class First, class Last, detail::function Predicate,
          detail::loop_choice How = loop_options>
  requires detail::bounds<First, Last>
std::size_t parallel_count_if(First first, Last last, Predicate const& predicate,
                              How const& how = {}) {
  return detail::count_elements(detail::sequence_of(first, last), predicate,
                                detail::options_of(how));
}

template <class R, class T, detail::loop_choice How = loop_options>
  requires detail::iterable_before<R, T>
std::size_t parallel_count(R&& range, T const& value, How const& how = {}) {
  return nigh::parallel_count_if(range, detail::equals<T>{value}, how);
}
template <class First, class Last, class T, detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<T>)
std::size_t parallel_count(First first, Last last, T const& value, How const& how = {}) {
  return nigh::parallel_count_if(first, last, detail::equals<T>{value}, how);
}

// How many elements each of `bins` bins holds: bin_of(element) is its bin, from 0 on; without
// bin_of, the elements are numbers of bins themselves. std::out_of_range names the element that has
// no bin. Memory: the result, and for each thread that comes as many counters (four times as many
// up to 256 bins); where these would be more than two for each element, the threads count in the
// result, by atomic additions. Complexity: n calls of bin_of, and bins * threads additions.
template <detail::iterable R, std::integral Bins, detail::function BinOf,
          detail::loop_choice How = loop_options>
  requires(!detail::loop_choice<BinOf>)
std::vector<std::size_t> parallel_histogram(R&& range, Bins bins, BinOf const& bin_of,
                                            How const& how = {}) {
  return detail::histogram(detail::sequence_of(range), detail::bins_of(bins), bin_of,
                           detail::options_near<loop_options>(range, how));
}
template <class First, class Last, std::integral Bins, detail::function BinOf,
          detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<BinOf>)
std::vector<std::size_t> parallel_histogram(First first, Last last, Bins bins, BinOf const& bin_of,
                                            How const& how = {}) {
  return detail::histogram(detail::sequence_of(first, last), detail::bins_of(bins), bin_of,
                           detail::options_of(how));
}
template <detail::iterable R, std::integral Bins, detail::loop_choice How = loop_options>
std::vector<std::size_t> parallel_histogram(R&& range, Bins bins, How const& how = {}) {
  return nigh::parallel_histogram(range, bins, detail::itself(), how);
}
template <class First, class Last, std::integral Bins, detail::loop_choice How = loop_options>
  requires detail::bounds<First, Last>
std::vector<std::size_t> parallel_histogram(First first, Last last, Bins bins,
                                            How const& how = {}) {
  return nigh::parallel_histogram(first, last, bins, detail::itself(), how);
}

}  // namespace nigh
