// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many tasks of gcc's OpenMP code wait before the thread that makes them runs another one at
// once. Never fewer than with libgomp: a program may count on those that it lets wait.

#include <algorithm>
#include <cstdint>

namespace nigh::policy {

// libgomp's own bound.
inline constexpr std::uint32_t waiting_for_each_thread = 64;

// Of tasks with dependences, the unfinished ones with one parent. More than libgomp's in a small
// team, so that a thread far ahead keeps the others busy.
constexpr std::uint32_t most_unfinished(std::uint32_t threads) noexcept {
  constexpr std::uint32_t of_a_small_team = 1024;
  auto const of_libgomp = waiting_for_each_thread * threads;
  return threads == 1 ? of_libgomp : std::max(of_a_small_team, of_libgomp);
}

// A taskloop with more tasks than this is made in so many stretches.
constexpr std::uint64_t stretches(std::uint32_t threads) noexcept {
  return std::uint64_t{waiting_for_each_thread} * threads;
}

static_assert(most_unfinished(1) == 64 && most_unfinished(2) == 1024 && most_unfinished(32) == 2048);

}  // namespace nigh::policy
