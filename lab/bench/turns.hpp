// SPDX-License-Identifier: Apache-2.0
#pragma once
// In which order do ways to be compared run, so that none always has the same one before it?
//
// A Williams design (E. J. Williams, Aust. J. Sci. Res. A 2, 1949): the order 0 n-1 1 n-2 2 ...,
// each repetition one further. In n repetitions every way is once at each position and, for even n,
// once right behind every other way of the same repetition. Every second n repetitions go
// backwards, so that for odd n this holds for 2n, with twice.

#include <cstddef>

namespace bench {

constexpr std::size_t way_at(std::size_t position, std::size_t repetition,
                             std::size_t count) noexcept {
  if ((repetition / count) % 2 == 1) position = count - 1 - position;
  auto const half = position / 2;
  return ((position % 2 == 0 ? half : count - 1 - half) + repetition) % count;
}

namespace turns_test {

// How often `one` runs right behind `other`.
constexpr int behind(std::size_t one, std::size_t other, std::size_t count,
                     std::size_t repetitions) {
  int times = 0;
  for (std::size_t r = 0; r < repetitions; ++r)
    for (std::size_t p = 1; p < count; ++p)
      times += way_at(p, r, count) == one && way_at(p - 1, r, count) == other ? 1 : 0;
  return times;
}

constexpr bool each_is_behind_each(std::size_t count, std::size_t repetitions, int times) {
  for (std::size_t one = 0; one < count; ++one)
    for (std::size_t other = 0; other < count; ++other)
      if (behind(one, other, count, repetitions) != (one == other ? 0 : times)) return false;
  return true;
}

constexpr bool each_has_each_position(std::size_t count) {
  for (std::size_t one = 0; one < count; ++one)
    for (std::size_t p = 0; p < count; ++p) {
      int times = 0;
      for (std::size_t r = 0; r < count; ++r) times += way_at(p, r, count) == one ? 1 : 0;
      if (times != 1) return false;
    }
  return true;
}

static_assert(each_is_behind_each(2, 2, 1) && each_is_behind_each(4, 4, 1));
static_assert(each_is_behind_each(6, 6, 1) && each_is_behind_each(6, 12, 2));
static_assert(each_is_behind_each(3, 6, 2) && each_is_behind_each(5, 10, 2));
static_assert(each_has_each_position(4) && each_has_each_position(5));
static_assert(way_at(0, 7, 1) == 0);

}  // namespace turns_test
}  // namespace bench
