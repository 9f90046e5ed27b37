// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread without work shares the tasks of a stack's owner, who is in a long one: see
// nigh/detail/task_stack.hpp, also for the letters.

#include <cstdint>
#include <nigh/detail/task_stack.hpp>

namespace nigh::tasks {

// Lets thieves have all private tasks, unless the owner or another thread is changing split just
// now. `everywhere`: has each thread of the process pass a fence; false: it cannot. Returns whether
// there was any. Any thread but the owner.
template <class Everywhere>
bool publish_for_owner(detail::task_stack& stack, Everywhere everywhere) noexcept {
  if (stack.helped.exchange(true, sync::acquire)) return false;  // (stack.B)
  std::uint32_t n = 0;
  if (everywhere() && stack.changes.load(sync::acquire) == 0) {  // (stack.B)
    auto* const first = stack.split.load(sync::relaxed);
    auto* const above = stack.top.seen();
    if (first < above) {
      stack.split.store(above, sync::relaxed);
      auto* end = everywhere() ? stack.top.seen() : first;  // (stack.A)
      if (end > above) end = above;
      end = first + (end > first ? (end - first + 1) / 2 : 0);
      stack.split.store(end, sync::relaxed);
      n = static_cast<std::uint32_t>(end - first);
    }
    if (n != 0)
      stack.shared.fetch_add(std::uint64_t{n} << 32, sync::seq_cst);  // (stack.C) (parking.S)
  }
  stack.helped.store(false, sync::release);  // (stack.B)
  return n != 0;
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
