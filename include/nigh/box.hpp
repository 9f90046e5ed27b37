// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranges of two and three dimensions.

#include <nigh/detail/cxx20.hpp>

#include <array>
#include <cstddef>
#include <nigh/detail/loop.hpp>
#include <tuple>
#include <type_traits>

namespace nigh {

// Half open in each dimension. The last dimension is innermost: its neighbours follow each other.
template <std::size_t D>
struct box {
  static_assert(D >= 1 && D <= 3, "one, two or three dimensions");

  std::array<std::size_t, D> begin{};
  std::array<std::size_t, D> end{};

  constexpr std::size_t size(std::size_t d) const noexcept {
    return end[d] > begin[d] ? end[d] - begin[d] : 0;
  }
  constexpr bool operator==(box const&) const = default;
};

namespace detail {

// Elements in the first `dimensions` of them; none in a box that is empty or reversed in any
// dimension. std::invalid_argument when there are more than can be counted.
template <std::size_t D>
std::size_t box_count(box<D> const& b, std::size_t dimensions) {
  std::size_t count = 1;
  for (std::size_t d = 0; d < D; ++d)
    if (b.begin[d] >= b.end[d]) return 0;
  for (std::size_t d = 0; d < dimensions; ++d)
    if (__builtin_mul_overflow(count, b.size(d), &count))
      refuse_box();
  return count;
}

// Calls f(prefix, from, to) for the rows that make up the elements [begin, end) of the box,
// numbered with the last of `Dimensions` innermost; prefix holds the indices of the others. Ends
// when f returns false, and returns false then.
template <std::size_t Dimensions, std::size_t D, class F>
bool each_row(box<D> const& b, std::size_t begin, std::size_t end, F const& f) {
  constexpr auto last = Dimensions - 1;
  std::array<std::size_t, last> prefix{};
  auto const length = b.end[last] - b.begin[last];
  auto row = begin / length;
  for (std::size_t d = last; d-- > 0;) {
    auto const size = b.end[d] - b.begin[d];
    prefix[d] = b.begin[d] + row % size;
    row /= size;
  }
  for (auto column = begin % length; begin < end; column = 0) {
    auto const count = length - column < end - begin ? length - column : end - begin;
    if (!f(prefix, b.begin[last] + column, b.begin[last] + column + count)) return false;
    begin += count;
    for (std::size_t d = last; d-- > 0;) {
      if (++prefix[d] < b.end[d]) break;
      prefix[d] = b.begin[d];
    }
  }
  return true;
}

// The work of a loop over a box on one piece of it.
template <std::size_t D, class Body>
struct for_box {
  Body const& shared;
  box<D> const& all;

  static constexpr bool by_element = [] {
    if constexpr (D == 1)
      return std::is_invocable_v<Body const&, std::size_t>;
    else if constexpr (D == 2)
      return std::is_invocable_v<Body const&, std::size_t, std::size_t>;
    else
      return std::is_invocable_v<Body const&, std::size_t, std::size_t, std::size_t>;
  }();
  // The second condition is not evaluated after the first is true, as in for_pieces.
  static_assert(std::disjunction_v<std::bool_constant<by_element>,
                                   std::is_invocable<Body const&, box<D> const&>>,
                "a box loop's body takes an index for each dimension or a nigh::box, and is called "
                "as const");
  // A body that takes boxes gets whole rows, so its elements are rows.
  static constexpr std::size_t dimensions = by_element || D == 1 ? D : D - 1;

  static void run(void* self, loop_part& part) {
    auto const& me = *static_cast<for_box const*>(self);
    index_range piece;
    while (next_piece(part, piece))
      if (!me.run_piece(piece)) return leave_loop(part);
  }

  bool run_piece(index_range piece) const {
    body_at_hand<Body> body = shared;
    return each_row<dimensions>(
        all, piece.begin, piece.end, [&](auto const& prefix, std::size_t from, std::size_t to) {
          if constexpr (by_element) {
            for (auto i = from; i < to; ++i) {
              bool const more =
                  std::apply([&](auto... before) { return goes_on(body, before..., i); }, prefix);
              if (!more) return false;
            }
            return true;
          } else {
            box<D> part = all;
            for (std::size_t d = 0; d < prefix.size(); ++d) {
              part.begin[d] = prefix[d];
              part.end[d] = prefix[d] + 1;
            }
            part.begin[dimensions - 1] = from;
            part.end[dimensions - 1] = to;
            return goes_on(body, part);
          }
        });
  }
};

}  // namespace detail
}  // namespace nigh
