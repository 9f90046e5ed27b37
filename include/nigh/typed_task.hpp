// SPDX-License-Identifier: Apache-2.0
#pragma once
// typed_task: the leanest spawn and join, for functions so small that two nanoseconds count.

#include <nigh/detail/cxx20.hpp>

#include <exception>
#include <new>
#include <nigh/detail/export.hpp>
#include <nigh/detail/task_stack.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace nigh {

// The calling thread's task stack. Handed from function to function, it saves each looking it up.
// Valid in the thread that asked for it, until the task in which it did returns.
inline task_context& this_task_context() noexcept { return *detail::this_stack; }

namespace detail {

template <class F>
struct signature;
template <class R, class... Args>
struct signature<R (*)(task_context&, Args...)> {
  using result = R;
  using arguments = std::tuple<Args...>;
};
template <class R, class... Args>
struct signature<R (*)(task_context&, Args...) noexcept>
    : signature<R (*)(task_context&, Args...)> {};

}  // namespace detail

// A call of F that others may run from its construction on, and that has been run once join()
// returns. Arguments travel in the task's slot and the result comes back there, so that the
// caller's frame keeps only a pointer:
//
//   long fib(nigh::task_context& at, int n) {
//     if (n < 2) return n;
//     nigh::typed_task<fib> right(at, n - 2);
//     long const left = fib(at, n - 1);
//     return left + right.join(at);
//   }
//
// Written like this, a compiler turns the join of a recursive function into a loop (g++ does): for
// this, the context is a plain reference, and the task's address is never taken.
//
// F is a function of a task_context and of arguments that are trivially copyable, 40 bytes
// together; so is its result, which is not void. join() is called exactly once, newest task first,
// in the function that made the task and with the same task_context; no exception may leave the
// function before. Threads without a runtime run F in the constructor, and so does a full stack.
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
  explicit typed_task(task_context& at, Args... args) {
    auto& stack = stack_of(at);
    if (stack.top >= stack.limit) [[unlikely]] {
      slow_ = place_slowly(at, args...);
      end_ = detail::no_slot + 1;
    } else {
      end_ = stack.top + 1;
      place(stack, args...);
    }
  }

  result join(task_context& at) {
    auto& stack = stack_of(at);
    auto* const slot = end_ - 1;
    if (stack.pop(slot)) [[likely]]
      return call(at, in_slot<arguments>(slot), every_argument());
    if (slot == detail::no_slot)
      return slow_.slot == nullptr ? slow_.made : join_slowly(stack, slow_.slot);
    return join_slowly(stack, slot);
  }

 private:
  using every_argument = std::make_index_sequence<std::tuple_size_v<arguments>>;

  static detail::task_stack& stack_of(task_context& at) noexcept {
    return static_cast<detail::task_stack&>(at);
  }
  template <std::size_t... I>
  static result call(task_context& at, arguments const& args, std::index_sequence<I...>) {
    return F(at, std::get<I>(args)...);
  }
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
    detail::task_slot* slot;  // the one it got after all; null: it has been run
    result made;
  };

  template <class... Args>
  [[gnu::noinline]] static Slow place_slowly(task_context& at, Args... args) {
    {
      detail::slow_push const push(detail::outsiders::stay);
      if (auto* const stack = push.room()) {
        Slow slow;
        slow.slot = stack->top;
        place(*stack, args...);
        return slow;
      }
    }
    return {.slot = nullptr, .made = F(at, args...)};
  }

  // For a task that may have been stolen, has others above it, or whose depth is kept.
  [[gnu::noinline]] static result join_slowly(detail::task_stack& stack, detail::task_slot* slot) {
    detail::finish_down_to(stack, slot + 1);
    if (stack.top != slot + 1) detail::refuse_late_join();
    detail::finish_top(stack);
    if (slot->object == nullptr) return in_slot<result>(slot);
    auto& kept = in_slot<std::exception_ptr>(slot);
    auto const exception = std::move(kept);
    kept.~exception_ptr();
    std::rethrow_exception(exception);
  }

  // A task_slot::entry. The thread that joins the task finds the result in its slot.
  static void run(detail::task_slot& slot, detail::task_stack* popping) noexcept {
    auto const args = *std::launder(reinterpret_cast<arguments*>(slot.closure));
    if (popping != nullptr) popping->end_taking(&slot);
    try {
      result const made = call(this_task_context(), args, every_argument());
      ::new (static_cast<void*>(slot.closure)) result(made);
      slot.object = nullptr;
    } catch (...) {
      ::new (static_cast<void*>(slot.closure)) std::exception_ptr(std::current_exception());
      slot.object = &slot;
    }
  }

  // the end of its slot; of no_slot: see slow_, which is not set otherwise
  detail::task_slot* end_;
  Slow slow_{};
};

}  // namespace nigh
