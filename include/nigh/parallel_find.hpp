// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_find, parallel_find_if, parallel_any_of, parallel_all_of, parallel_none_of: searches
// that end early. parallel_min_element, parallel_max_element, parallel_minmax_element.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nigh/detail/atomic.hpp>
#include <nigh/detail/fold.hpp>
#include <nigh/detail/sequence.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/parallel_for.hpp>
#include <type_traits>
#include <utility>

namespace nigh {
namespace detail {

// The blocks in which a search goes over its elements: in order, so that a match near the front is
// found by looking at little else. They begin small and grow with their distance from the front,
// as in the growing blocks of the MCSTL (Singler, Sanders and Putze, Euro-Par 2007): the threads
// look at up to half as much again as lies before the match, whatever a look costs and however many
// there are. No block is larger than a 16th of a worker's share.
class search_blocks {
 public:
  search_blocks(std::size_t count, std::size_t workers)
      : count_(count),
        ramp_(2 * workers),
        smallest_(std::clamp<std::size_t>(count / (64 * workers), 1, 256)),
        largest_(std::max(smallest_, count / (16 * workers))),
        growing_(largest_ == smallest_ ? 0 : steps_to_largest()),
        level_(begin_of_grown(growing_)) {}

  std::size_t blocks() const noexcept {
    if (level_ < count_) {
      auto const rest = count_ - level_;
      return ramp_ + growing_ + rest / largest_ + (rest % largest_ != 0);
    }
    std::size_t few = 0;  // fewer elements than the ramp has places
    for (auto many = ramp_ + growing_; few < many;) {
      auto const middle = few + (many - few) / 2;
      if (begin_of(middle) < count_)
        few = middle + 1;
      else
        many = middle;
    }
    return few;
  }
  index_range block(std::size_t b) const noexcept {
    return {std::min(begin_of(b), count_), std::min(begin_of(b + 1), count_)};
  }

 private:
  // Blocks of the smallest size, then blocks of 1/ramp of what lies before them, then the largest.
  std::size_t begin_of(std::size_t b) const noexcept {
    if (b <= ramp_) return b * smallest_;
    auto const grown = b - ramp_;
    return grown < growing_ ? begin_of_grown(grown) : level_ + (grown - growing_) * largest_;
  }
  std::size_t begin_of_grown(std::size_t grown) const noexcept {
    return static_cast<std::size_t>(
        static_cast<double>(ramp_ * smallest_) *
        std::exp(static_cast<double>(grown) / static_cast<double>(ramp_)));
  }
  std::size_t steps_to_largest() const noexcept {
    return static_cast<std::size_t>(
        std::log(static_cast<double>(largest_) / static_cast<double>(smallest_)) *
        static_cast<double>(ramp_));
  }

  std::size_t count_;
  std::size_t ramp_;
  std::size_t smallest_;
  std::size_t largest_;
  std::size_t growing_;
  std::size_t level_;  // where the largest ones begin
};

// The smallest number that a thread has come up with.
class lowest {
 public:
  explicit lowest(std::size_t from) noexcept : value_(from) {}
  std::size_t value() const noexcept { return value_.load(sync::relaxed); }
  void lower_to(std::size_t to) noexcept {
    auto seen = value();
    while (to < seen && !value_.compare_exchange_weak(seen, to, sync::relaxed)) {
    }
  }

 private:
  // Relaxed: the loop's end orders it before its only reader that needs more than a hint.
  alignas(64) sync::atomic<std::size_t> value_;
};

// Elements between two looks at what the others have found.
inline constexpr std::size_t search_stride = 64;

// So cheap that a whole stride is looked at without a branch for each element.
template <class Sequence, class Predicate>
inline constexpr bool is_cheap_search = false;
template <class X, class T>
inline constexpr bool is_cheap_search<sequence<X*>, equals<T>> =
    std::is_arithmetic_v<std::remove_cv_t<X>> && std::is_arithmetic_v<T>;

template <class Sequence, class Predicate>
std::size_t find_in_stride(Sequence const& all, std::size_t at, std::size_t end,
                           Predicate const& predicate) {
  if constexpr (is_cheap_search<Sequence, Predicate>) {
    if (end - at == search_stride) {
      auto const* const p = all.first + at;
      auto const value = predicate.value;
      unsigned found = 0;
      for (std::size_t k = 0; k < search_stride; ++k) found |= are_equal(p[k], value) ? 1U : 0U;
      if (found == 0) return end;
    }
  }
  auto const holds = [&](std::size_t i) { return static_cast<bool>(predicate(*all.at(i))); };
  for (; end - at >= 4; at += 4) {  // one branch for four
    bool const a = holds(at), b = holds(at + 1), c = holds(at + 2), d = holds(at + 3);
    if ((a | b) | (c | d)) [[unlikely]]
      return at + (a ? 0 : b ? 1 : c ? 2 : 3);
  }
  while (at < end && !holds(at)) ++at;
  return at;
}

// The number of the first element, or of any one, that the predicate holds for; else their count.
template <bool First, class Sequence, class Predicate>
std::size_t find_place(Sequence const& all, Predicate const& predicate, loop_options options) {
  static_assert(std::is_invocable_r_v<bool, Predicate const&, typename Sequence::reference>,
                "a predicate takes an element or index and returns bool, and is called as const");
  if (all.count == 0) return 0;
  lowest best(all.count);
  // False: nothing that begins later matters any more.
  auto const search = [&](index_range r) {
    body_at_hand<Predicate> mine = predicate;
    for (auto at = r.begin; at < r.end; at += search_stride) {
      auto const seen = best.value();
      if (First ? at >= seen : seen < all.count) return false;
      auto const end = std::min(at + search_stride, r.end);
      if (auto const place = find_in_stride(all, at, end, mine); place < end) {
        best.lower_to(place);
        return false;
      }
    }
    return true;
  };
  if (options.how || options.grain != 0) {
    // These begin pieces in order, so none that is left begins before one that has been begun.
    bool const in_order = options.how && (options.how->kind() == schedule_kind::dynamic ||
                                          options.how->kind() == schedule_kind::guided);
    each_piece(all.extent(), options, [&](index_range r) {
      return search(r) || (First && !in_order) ? loop_flow::go_on : loop_flow::leave;
    });
  } else {
    search_blocks const blocks(all.count, workers_for_loops(options.where));
    static schedule const in_order = dynamic_schedule();
    options.how = in_order;
    nigh::parallel_for(
        std::size_t{0}, blocks.blocks(),
        [&](std::size_t b) {
          return search(blocks.block(b)) ? loop_flow::go_on : loop_flow::leave;
        },
        options);
  }
  return best.value();
}

template <class F>
auto negated(F const& f) {
  return [&f](auto&& x) -> bool { return !f(static_cast<decltype(x)>(x)); };
}

// By which of two places is the smaller one, or the larger one, and which of two equal ones?
template <bool Largest, bool Last, class Sequence, class Less>
struct nearer_end {
  Sequence const& all;
  Less const& less;

  bool is_before(std::size_t a, std::size_t b) const {
    return Largest ? less(*all.at(b), *all.at(a)) : less(*all.at(a), *all.at(b));
  }
  std::size_t operator()(std::size_t a, std::size_t b) const {
    if (a > b) std::swap(a, b);
    if (Last) return is_before(a, b) ? a : b;
    return is_before(b, a) ? b : a;
  }
};

// Numbers in their natural order are compared in groups, by lanes; then only the group that has the
// answer is searched for its place.
template <class Sequence, class Less>
inline constexpr bool has_plain_order = false;
template <class X>
inline constexpr bool has_plain_order<sequence<X*>, std::less<>> = std::is_arithmetic_v<X>;
template <class X>
inline constexpr bool has_plain_order<sequence<X*>, std::less<std::remove_cv_t<X>>> =
    std::is_arithmetic_v<X>;
template <class X>
inline constexpr bool has_plain_order<sequence<X*>, std::ranges::less> = std::is_arithmetic_v<X>;

template <bool Largest, bool Last, class Sequence, class Less>
std::size_t extreme_in_piece(Sequence const& all, index_range r, Less const& less) {
  if constexpr (has_plain_order<Sequence, Less>) {
    using value = typename Sequence::value_type;
    using word = std::conditional_t<Largest, max_word, min_word>;
    constexpr std::size_t group = 512;
    auto const* const data = all.first;
    value best = data[r.begin];
    auto from = r.begin;
    auto to = r.begin + 1;
    for (auto at = r.begin; at < r.end; at += group) {
      auto const end = std::min(at + group, r.end);
      auto const mine =
          fold_piece<value>({at, end}, word(), [data](std::size_t i) { return data[i]; });
      bool const is_better = Largest ? best < mine : mine < best;
      if (is_better || (Last && mine == best)) {
        best = mine;
        from = at;
        to = end;
      }
    }
    if constexpr (Last) {
      while (to - 1 > from && !(data[to - 1] == best)) --to;
      return to - 1;
    } else {
      while (from + 1 < to && !(data[from] == best)) ++from;
      return from;
    }
  } else {
    body_at_hand<Less> mine = less;
    auto best = all.at(r.begin);
    auto at = r.begin;
    auto it = best;
    for (auto i = r.begin + 1; i < r.end; ++i) {
      ++it;
      bool const is_better = Largest ? mine(*best, *it) : mine(*it, *best);
      bool const is_worse = Last && (Largest ? mine(*it, *best) : mine(*best, *it));
      if (Last ? !is_worse : is_better) {
        best = it;
        at = i;
      }
    }
    return at;
  }
}

template <class Sequence, class Less>
constexpr void check_order() {
  static_assert(std::is_invocable_r_v<bool, Less const&, typename Sequence::reference,
                                      typename Sequence::reference>,
                "a comparison takes two elements or indices and returns bool, and is called as "
                "const");
}

template <bool Largest, class Sequence, class Less>
std::size_t extreme_place(Sequence const& all, Less const& less, loop_options const& options) {
  check_order<Sequence, Less>();
  auto const place = combine_as_it_comes<std::size_t>(
      all.extent(), options,
      [&](index_range r) { return extreme_in_piece<Largest, false>(all, r, less); },
      nearer_end<Largest, false, Sequence, Less>{all, less});
  return place.value_or(all.count);
}

template <class Sequence, class Less>
std::pair<std::size_t, std::size_t> extreme_places(Sequence const& all, Less const& less,
                                                   loop_options const& options) {
  check_order<Sequence, Less>();
  using places = std::pair<std::size_t, std::size_t>;
  nearer_end<false, false, Sequence, Less> const lower{all, less};
  nearer_end<true, true, Sequence, Less> const upper{all, less};
  // A group's numbers are still in the first cache when the second search comes to them; other
  // elements are looked at in stretches that are.
  auto const piece = [&](index_range r) {
    places best{r.begin, r.begin};
    constexpr std::size_t stretch = 4096;
    for (auto at = r.begin; at < r.end; at += stretch) {
      index_range const part{at, std::min(at + stretch, r.end)};
      best = {lower(best.first, extreme_in_piece<false, false>(all, part, less)),
              upper(best.second, extreme_in_piece<true, true>(all, part, less))};
    }
    return best;
  };
  auto const both =
      combine_as_it_comes<places>(all.extent(), options, piece, [&](places a, places b) {
        return places{lower(a.first, b.first), upper(a.second, b.second)};
      });
  return both.value_or(places{all.count, all.count});
}

}  // namespace detail

// For all algorithms here: what they loop over, and options, are as in parallel_transform.hpp.
// They return a place as the standard library does: an iterator, or for integers an integer; `last`
// where there is none (for a reversed range, `first`). Memory: none.

// The first element that the predicate holds for, as std::find_if: always the first, whatever the
// threads do. Ends early: where options name no schedule and no grain, the threads go over the
// elements in order, in blocks that grow, and look at up to half as many again as lie before the
// match; by a named schedule, or over a nigh::array, each begins with those of its own block, and
// they look at no further ones beyond a match. Calls of the predicate: up to one for each element,
// also for some behind the match. Stopped by options.stop, it returns what it has.
template <detail::iterable R, detail::function Predicate, detail::loop_choice How = loop_options>
auto parallel_find_if(R&& range, Predicate const& predicate, How const& how = {}) {
  static_assert(detail::outlives_call<R>, "the place found in a temporary container dangles");
  auto const all = detail::sequence_of(range);
  auto const options = detail::options_near<loop_options>(range, how);
  return detail::place_of(std::begin(range), std::end(range),
                          detail::find_place<true>(all, predicate, options));
}
template <class First, class Last, detail::function Predicate,
          detail::loop_choice How = loop_options>
  requires detail::bounds<First, Last>
auto parallel_find_if(First first, Last last, Predicate const& predicate, How const& how = {}) {
  auto const all = detail::sequence_of(first, last);
  auto const options = detail::options_of(how);
  return detail::place_of(first, last, detail::find_place<true>(all, predicate, options));
}

// The first element that equals the value. Numbers are compared a vector at a time.
template <class R, class T, detail::loop_choice How = loop_options>
  requires detail::iterable_before<R, T>
auto parallel_find(R&& range, T const& value, How const& how = {}) {
  return nigh::parallel_find_if(std::forward<R>(range), detail::equals<T>{value}, how);
}
template <class First, class Last, class T, detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<T>)
auto parallel_find(First first, Last last, T const& value, How const& how = {}) {
  return nigh::parallel_find_if(first, last, detail::equals<T>{value}, how);
}

// Whether the predicate holds for any, for all, for none of the elements; of nothing: false, true,
// true. End early as parallel_find_if, by the first match that any thread comes to.
template <detail::iterable R, detail::function Predicate, detail::loop_choice How = loop_options>
bool parallel_any_of(R&& range, Predicate const& predicate, How const& how = {}) {
  auto const all = detail::sequence_of(range);
  auto const options = detail::options_near<loop_options>(range, how);
  return detail::find_place<false>(all, predicate, options) < all.count;
}
template <class First, class Last, detail::function Predicate,
          detail::loop_choice How = loop_options>
  requires detail::bounds<First, Last>
bool parallel_any_of(First first, Last last, Predicate const& predicate, How const& how = {}) {
  auto const all = detail::sequence_of(first, last);
  return detail::find_place<false>(all, predicate, detail::options_of(how)) < all.count;
}

template <detail::iterable R, detail::function Predicate, detail::loop_choice How = loop_options>
bool parallel_all_of(R&& range, Predicate const& predicate, How const& how = {}) {
  return !nigh::parallel_any_of(range, detail::negated(predicate), how);
}
template <class First, class Last, detail::function Predicate,
          detail::loop_choice How = loop_options>
  requires detail::bounds<First, Last>
bool parallel_all_of(First first, Last last, Predicate const& predicate, How const& how = {}) {
  return !nigh::parallel_any_of(first, last, detail::negated(predicate), how);
}

template <detail::iterable R, detail::function Predicate, detail::loop_choice How = loop_options>
bool parallel_none_of(R&& range, Predicate const& predicate, How const& how = {}) {
  return !nigh::parallel_any_of(range, predicate, how);
}
template <class First, class Last, detail::function Predicate,
          detail::loop_choice How = loop_options>
  requires detail::bounds<First, Last>
bool parallel_none_of(First first, Last last, Predicate const& predicate, How const& how = {}) {
  return !nigh::parallel_any_of(first, last, predicate, how);
}

// The first of the smallest elements, and the first of the largest ones, as in the standard
// library; of both at once, the first of the smallest and the last of the largest. `less` is a
// strict weak order (numbers: no NaN among them). One pass over memory; calls of it: n - 1 and some
// for each piece, four times as many for both. Numbers by std::less are compared in lanes.
template <detail::iterable R, detail::function Less = std::less<>,
          detail::loop_choice How = loop_options>
  requires(!detail::loop_choice<Less>)
auto parallel_min_element(R&& range, Less const& less = {}, How const& how = {}) {
  static_assert(detail::outlives_call<R>, "the place found in a temporary container dangles");
  auto const all = detail::sequence_of(range);
  auto const options = detail::options_near<loop_options>(range, how);
  return detail::place_of(std::begin(range), std::end(range),
                          detail::extreme_place<false>(all, less, options));
}
template <class First, class Last, detail::function Less = std::less<>,
          detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<Less>)
auto parallel_min_element(First first, Last last, Less const& less = {}, How const& how = {}) {
  auto const all = detail::sequence_of(first, last);
  return detail::place_of(first, last,
                          detail::extreme_place<false>(all, less, detail::options_of(how)));
}

template <detail::iterable R, detail::function Less = std::less<>,
          detail::loop_choice How = loop_options>
  requires(!detail::loop_choice<Less>)
auto parallel_max_element(R&& range, Less const& less = {}, How const& how = {}) {
  static_assert(detail::outlives_call<R>, "the place found in a temporary container dangles");
  auto const all = detail::sequence_of(range);
  auto const options = detail::options_near<loop_options>(range, how);
  return detail::place_of(std::begin(range), std::end(range),
                          detail::extreme_place<true>(all, less, options));
}
template <class First, class Last, detail::function Less = std::less<>,
          detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<Less>)
auto parallel_max_element(First first, Last last, Less const& less = {}, How const& how = {}) {
  auto const all = detail::sequence_of(first, last);
  return detail::place_of(first, last,
                          detail::extreme_place<true>(all, less, detail::options_of(how)));
}

// A pair of places: {smallest, largest}.
template <detail::iterable R, detail::function Less = std::less<>,
          detail::loop_choice How = loop_options>
  requires(!detail::loop_choice<Less>)
auto parallel_minmax_element(R&& range, Less const& less = {}, How const& how = {}) {
  static_assert(detail::outlives_call<R>, "the places found in a temporary container dangle");
  auto const all = detail::sequence_of(range);
  auto const options = detail::options_near<loop_options>(range, how);
  auto const [low, high] = detail::extreme_places(all, less, options);
  return std::pair(detail::place_of(std::begin(range), std::end(range), low),
                   detail::place_of(std::begin(range), std::end(range), high));
}
template <class First, class Last, detail::function Less = std::less<>,
          detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<Less>)
auto parallel_minmax_element(First first, Last last, Less const& less = {}, How const& how = {}) {
  auto const all = detail::sequence_of(first, last);
  auto const [low, high] = detail::extreme_places(all, less, detail::options_of(how));
  return std::pair(detail::place_of(first, last, low), detail::place_of(first, last, high));
}

}  // namespace nigh
