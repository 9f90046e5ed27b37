// SPDX-License-Identifier: Apache-2.0
#pragma once
// child_task: spawn and join by hand, for code that does not fit fork_join's shape.

#include <nigh/detail/cxx20.hpp>

#include <nigh/fork_join.hpp>
#include <type_traits>
#include <utility>

namespace nigh {

namespace detail {
[[noreturn]] NIGH_API void refuse_second_join() noexcept;
}

// A function that other threads may run from now on, and that has been run once join() returns:
//
//   nigh::child_task right([&] { return sum(b, middle, e); });
//   auto const left = sum(b, b, middle);
//   return left + right.join();
//
// The typed form of the pair spawn and join that fork_join is made of, at the same cost: no
// allocation, no fence, no atomic read-modify-write as long as nobody steals. External threads
// without a runtime (runtime::invoke, task_scope) run it in join().
//
// A local variable, joined or destroyed by the thread that made it, after those made later.
template <class F>
class child_task {
 public:
  using value = typename detail::forked<F&>::value;

  explicit child_task(F function) : function_(std::move(function)), task_(function_) {
    auto& stack = *detail::this_stack;
    if (stack.top >= stack.limit) [[unlikely]] {
      place_slowly();
      return;
    }
    place(stack);
  }

  // Runs the function unless a thief has, and returns its result (std::monostate for void) or
  // rethrows its exception. Call it once.
  value join() {
    bool const again = std::exchange(joined_, true);
    if (slot_ == nullptr) [[unlikely]] {
      if (again) detail::refuse_second_join();
      return join_unplaced();
    }
    auto& stack = *detail::this_stack;
    if (slot_->object == &task_ && stack.pop(slot_)) [[likely]]
      return detail::value_of(function_);
    if (again) detail::refuse_second_join();
    detail::join_slowly(stack, slot_, &task_);
    return task_.take();
  }

  // Waits for a task that was not joined, after running it if need be; drops its result or its
  // exception.
  ~child_task() {
    if (joined_) [[likely]]
      return;
    if (slot_ == nullptr) slot_ = slow_slot_;
    if (slot_ == nullptr) {
      try {
        detail::value_of(function_);
      } catch (...) {
      }
      return;
    }
    detail::join_slowly(*detail::this_stack, slot_, &task_);
    task_.discard();
  }
  child_task(child_task&&) = delete;
  child_task& operator=(child_task&&) = delete;

 private:
  void place(detail::task_stack& stack) noexcept {
    slot_ = stack.top;
    slot_->object = &task_;
    stack.push(slot_, &detail::forked<F&>::run);
  }
  [[gnu::noinline]] void place_slowly() {
    detail::slow_push const push(detail::outsiders::stay);
    if (push.room() == nullptr) return;
    place(*push.room());
    slow_slot_ = std::exchange(slot_, nullptr);
  }
  // A task pushed by the slow path is popped by a runtime that keeps depths.
  [[gnu::noinline]] value join_unplaced() {
    if (slow_slot_ == nullptr) return detail::value_of(function_);
    detail::join_slowly(*detail::this_stack, slow_slot_, &task_);
    return task_.take();
  }

  F function_;
  detail::forked<F&> task_;
  detail::task_slot* slot_ = nullptr;
  // the slot where slot_ is null; null too: it runs in join()
  detail::task_slot* slow_slot_ = nullptr;
  bool joined_ = false;
};

}  // namespace nigh
