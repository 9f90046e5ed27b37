// SPDX-License-Identifier: Apache-2.0
#pragma once
// typed_task: the leanest spawn and join there is, for functions so small that two nanoseconds
// count.

#include <exception>
#include <memory>
#include <new>
#include <nigh/detail/export.hpp>
#include <nigh/detail/task_stack.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace nigh {

// Where the calling thread's tasks wait. Handed from function to function, it saves each the look
// for it. Valid in the thread that made it, until the task that made it returns.
class task_context {
 public:
  task_context() noexcept : stack_(detail::this_stack) {}

 private:
  template <auto F>
  friend class typed_task;
  detail::task_stack* stack_;
};

namespace detail {

template <class F>
struct signature;
template <class R, class... Args>
struct signature<R (*)(task_context, Args...)> {
  using result = R;
  using arguments = std::tuple<Args...>;
};
template <class R, class... Args>
struct signature<R (*)(task_context, Args...) noexcept> : signature<R (*)(task_context, Args...)> {
};

}  // namespace detail

// A call of F that others may run from its construction on, and that has been run once join()
// returns. Arguments travel in the task's slot and the result comes back there, so that nothing but
// a pointer is kept in the caller's frame:
//
//   long fib(nigh::task_context at, int n) {
//     if (n < 2) return n;
//     nigh::typed_task<fib> right(at, n - 2);
//     long const left = fib(at, n - 1);
//     return left + right.join(at);
//   }
//
// F is a function of a task_context and of arguments that are trivially copyable, 40 bytes
// together; so is its result, which is not void. join() is called exactly once, newest task first,
// in the function that made the task and with the same task_context: not even an exception may pass
// by it. Threads that are no guests of a runtime run F in the constructor, and so does a full
// stack.
template <auto F>
class typed_task {
  using entry_signature = detail::signature<decltype(F)>;
  using arguments = typename entry_signature::arguments;

 public:
  using result = typename entry_signature::result;
  static_assert(sizeof(arguments) <= detail::task_slot::closure_bytes &&
                sizeof(result) <= detail::task_slot::closure_bytes);
  static_assert(std::is_trivially_copyable_v<result> && alignof(result) <= 8 &&
                alignof(arguments) <= 8 && std::is_trivially_destructible_v<arguments>);

  template <class... Args>
  explicit typed_task(task_context at, Args... args) {
    auto& stack = *at.stack_;
    slot_ = stack.top;
    if (slot_ >= stack.limit) [[unlikely]] {
      place_slowly(at, &slow_, args...);
      slot_ = nullptr;
    } else {
      place(stack, args...);
    }
  }

  result join(task_context at) {
    auto& stack = *at.stack_;
    if (slot_ == nullptr) [[unlikely]]
      return slow_.slot == nullptr ? slow_.made : join_slowly(stack, slow_.slot);
    if (stack.pop(slot_)) [[likely]]
      return std::apply([at](auto... args) { return F(at, args...); }, in_slot<arguments>(slot_));
    return join_slowly(stack, slot_);
  }

 private:
  // Static, all of them: `this` stays with the caller, who can keep it in a register.
  template <class T>
  static T& in_slot(detail::task_slot* slot) noexcept {
    return *std::launder(reinterpret_cast<T*>(slot->closure));
  }

  template <class... Args>
  static void place(detail::task_stack& stack, Args... args) noexcept {
    ::new (static_cast<void*>(stack.top->closure)) arguments(args...);
    stack.push(&run);
  }

  // A task that did not find room at once.
  struct Slow {
    detail::task_slot* slot;  // where it is after all; null: it has been run
    result made;
  };

  template <class... Args>
  [[gnu::noinline]] static void place_slowly(task_context at, Slow* slow, Args... args) {
    {
      detail::slow_push const push(detail::outsiders::stay);
      auto* const stack = push.room();
      slow->slot = stack != nullptr ? stack->top : nullptr;
      if (stack != nullptr) return place(*stack, args...);
    }
    slow->made = F(at, args...);
  }

  // Of a task that may have been stolen, that has others above it, or whose depth is kept.
  [[gnu::noinline]] static result join_slowly(detail::task_stack& stack, detail::task_slot* slot) {
    detail::finish_down_to(stack, slot + 1);
    if (stack.top != slot + 1) detail::refuse_late_join();
    detail::finish_top(stack);
    if (slot->object == nullptr) return in_slot<result>(slot);
    auto& kept = in_slot<std::exception_ptr>(slot);
    auto const exception = std::move(kept);
    std::destroy_at(&kept);
    std::rethrow_exception(exception);
  }

  // A task_slot::entry. Whoever joins the task finds in its slot what it has made.
  static void run(detail::task_slot& slot, detail::task_stack* popping) noexcept {
    auto const args = *std::launder(reinterpret_cast<arguments*>(slot.closure));
    if (popping != nullptr) popping->top = &slot;
    try {
      result const made = std::apply([](auto... a) { return F(task_context(), a...); }, args);
      ::new (static_cast<void*>(slot.closure)) result(made);
      slot.object = nullptr;
    } catch (...) {
      ::new (static_cast<void*>(slot.closure)) std::exception_ptr(std::current_exception());
      slot.object = &slot;
    }
  }

  detail::task_slot* slot_;  // null: see slow_, which is not set otherwise
  Slow slow_;
};

}  // namespace nigh
