// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread without work shares the tasks of a stack's owner, who is in a long one: see
// nigh/detail/task_stack.hpp, also for the letters.

#include <algorithm>
#include <cstdint>
#include <nigh/detail/task_stack.hpp>

#include "policy/stealing/chunk_size.hpp"

namespace nigh::tasks {

template <class Everywhere>
bool move_split(detail::task_stack& stack, Everywhere everywhere) noexcept {
  auto* const first = stack.split.load(sync::relaxed);
  auto* const above = stack.top.seen();
  if (above <= first) return false;
  stack.split.store(above, sync::relaxed);
  auto* const end = everywhere() ? std::min(stack.top.seen(), above) : first;  // (stack.A)
  auto const n = end > first ? policy::tasks_to_share(static_cast<std::uint32_t>(end - first)) : 0;
  stack.split.store(first + n, sync::relaxed);
  if (n == 0) return false;
  stack.shared.fetch_add(std::uint64_t{n} << 32, sync::seq_cst);  // (stack.C) (parking.S)
  return true;
}

enum class Helped : std::uint8_t {
  published,
  nothing,  // there is none, or no fence
  busy,     // the owner or another thread is changing split just now
};

// Lets thieves have as many private tasks as their owner would share. `everywhere`: has each thread of the
// process pass a fence; false: it cannot. Any thread but the owner.
template <class Everywhere>
Helped publish_for_owner(detail::task_stack& stack, Everywhere everywhere) noexcept {
  if (stack.helped.exchange(true, sync::acquire)) return Helped::busy;  // (stack.B)
  auto result = Helped::nothing;
  if (everywhere()) {
    if (stack.changes.load(sync::acquire) != 0)  // (stack.B)
      result = Helped::busy;
    else if (move_split(stack, everywhere))
      result = Helped::published;
  }
  stack.helped.store(false, sync::release);  // (stack.B)
  return result;
}

// Of the owner in a child of fork(), which does not have the thread that was at it: as far as the
// word says.
inline void forget_helper(detail::task_stack& stack) noexcept {
  if (!stack.helped.load(sync::relaxed)) return;
  auto const word = stack.shared.load(sync::relaxed);
  stack.split.store(stack.slots + detail::task_stack::split_of(word), sync::relaxed);
  stack.helped.store(false, sync::relaxed);
}

}  // namespace nigh::tasks
