// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many threads should a pool have that follows its program's part of the cpus? Never more than
// the program itself has said, and as many when it is alone.

#include <algorithm>
#include <cstdint>

namespace nigh::policy {

// A program's equal part of the cpus; all of them where it is alone, or without a coordinator (0
// programs).
constexpr int equal_part(std::uint32_t cpus, std::uint32_t programs) noexcept {
  return static_cast<int>(std::max(1U, cpus / std::max(1U, programs)));
}

// The size of one pool. Only its present value can be seen; a value that we did not set is the
// program's.
class PoolSize {
 public:
  // The size it should have, where it has `now`. A size that makes no sense stays.
  constexpr int wanted(int now, std::uint32_t cpus, std::uint32_t programs) noexcept {
    see(now);
    return programs <= 1 ? own_ : std::min(own_, equal_part(cpus, programs));
  }
  // The same, for a pool that should follow nothing any more.
  constexpr int restored(int now) noexcept {
    see(now);
    return own_;
  }
  constexpr void was_set(int size) noexcept { last_ = size; }

  constexpr int own() const noexcept { return own_; }

 private:
  constexpr void see(int now) noexcept {
    if (now != last_) own_ = now;
    last_ = now;
  }

  int own_ = 0;
  int last_ = 0;  // the size that we set last
};

namespace pool_size_truths {

// Beside another program, then alone again; then the program sets a size of its own.
constexpr bool follows_and_comes_back() {
  PoolSize size;
  if (size.wanted(8, 8, 1) != 8) return false;
  if (size.wanted(8, 8, 2) != 4) return false;
  size.was_set(4);
  if (size.wanted(4, 8, 3) != 2) return false;
  size.was_set(2);
  return size.wanted(2, 8, 1) == 8 && size.restored(2) == 8;
}
constexpr bool heeds_the_program() {
  PoolSize size;
  if (size.wanted(8, 8, 4) != 2) return false;
  size.was_set(2);
  if (size.wanted(3, 8, 1) != 3 || size.own() != 3) return false;
  if (size.wanted(3, 8, 2) != 3) return false;
  return size.wanted(1, 8, 2) == 1 && size.wanted(1, 8, 1) == 1;
}
static_assert(follows_and_comes_back() && heeds_the_program());
static_assert(equal_part(8, 0) == 8 && equal_part(8, 3) == 2 && equal_part(2, 5) == 1);
static_assert(PoolSize().wanted(0, 8, 2) == 0 && PoolSize().wanted(-1, 8, 2) == -1);

}  // namespace pool_size_truths

}  // namespace nigh::policy
