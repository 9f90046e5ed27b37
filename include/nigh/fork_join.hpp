// SPDX-License-Identifier: Apache-2.0
#pragma once
// fork_join(f, g, ...): calls all of them, possibly at once, and returns when all have returned.

#include <nigh/detail/cxx20.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <new>
#include <nigh/detail/export.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/detail/task_stack.hpp>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace nigh {

namespace detail {

// Calls f; std::monostate stands for void.
template <class F>
auto value_of(F&& f) {
  if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
    std::forward<F>(f)();
    return std::monostate{};
  } else {
    return std::forward<F>(f)();
  }
}

// A function that its parent has put into its task stack, in the parent's frame. The parent calls
// it itself unless another thread has begun it; that thread then writes the result here.
template <class G>
class forked {
 public:
  using value = decltype(value_of(std::declval<G>()));

  explicit forked(std::remove_reference_t<G>& g) noexcept : call_(__builtin_addressof(g)) {}
  forked(forked&&) = delete;
  forked& operator=(forked&&) = delete;

  // A task_slot::entry.
  static void run(task_slot& slot, task_stack* popping) noexcept {
    auto& self = *static_cast<forked*>(slot.object);
    if (popping != nullptr) popping->end_taking(&slot);
    try {
      ::new (static_cast<void*>(__builtin_addressof(self.result_))) value(value_of(std::forward<G>(*self.call_)));
      self.threw_ = false;
    } catch (...) {
      ::new (&self.exception_) std::exception_ptr(std::current_exception());
      self.threw_ = true;
    }
  }

  // After run(), once: returns its result, or rethrows its exception.
  value take() {
    if (threw_) std::rethrow_exception(take_away(exception_));
    return take_away(result_);
  }
  void discard() noexcept { threw_ ? exception_.~exception_ptr() : result_.~value(); }
  ~forked() {}  // the result of run() has been taken or discarded

 private:
  template <class T>
  static T take_away(T& from) {
    struct taken_from {
      T& it;
      ~taken_from() { it.~T(); }  // also when the move throws
    } const left{from};
    return T(std::move(from));
  }

  std::remove_reference_t<G>* call_;
  bool threw_;
  union {
    value result_;
    std::exception_ptr exception_;
  };
};

// Runs or awaits the task of `object` in `slot`, unless that has happened on the way.
NIGH_API void join_slowly(task_stack& stack, task_slot* slot, void const* object) noexcept;

// The values of two calls. Unlike std::tuple, small ones are returned in registers.
template <class Left, class Right>
struct both {
  Left left;
  Right right;
};
template <class F, class G>
using both_values = both<decltype(value_of(std::declval<F>())), decltype(value_of(std::declval<G>()))>;

// The left one has made its value. Moving that may throw, and the right one is called all the same.
template <class Left, class CallRight>
[[gnu::always_inline]] inline both<Left, std::invoke_result_t<CallRight&>> with_right(Left& left, CallRight&& call) {
  if constexpr (std::is_nothrow_move_constructible_v<Left>) {
    return {std::move(left), call()};
  } else {
    auto right = call();
    return {std::move(left), std::move(right)};
  }
}

// A function of its own: what it saves and restores would otherwise be part of every call of a recursive function,
// of those as well that fork nothing.
template <class F, class G>
[[gnu::noinline]] both_values<F, G> fork_in(task_stack& stack, F&& f, G&& g) {
  forked<G> right(g);
  task_slot* const slot = stack.top;
  slot->object = &right;
  stack.push(slot, &forked<G>::run);
  auto left = [&] {
    try {
      return value_of(std::forward<F>(f));
    } catch (...) {
      join_slowly(stack, slot, &right);
      right.discard();
      throw;
    }
  }();
  // Has an older scope, at which f waited, run g already? Then another task may be in the slot.
  if (slot->object == &right && stack.pop(slot)) [[likely]]
    return with_right(left, [&] { return value_of(std::forward<G>(g)); });
  join_slowly(stack, slot, &right);
  return with_right(left, [&] { return right.take(); });
}

template <class F, class G>
both_values<F, G> call_in_order(F&& f, G&& g) {
  auto left = [&] {
    try {
      return value_of(std::forward<F>(f));
    } catch (...) {
      try {
        value_of(std::forward<G>(g));
      } catch (...) {  // the first exception is rethrown
      }
      throw;
    }
  }();
  return with_right(left, [&] { return value_of(std::forward<G>(g)); });
}

template <class F, class G>
[[gnu::noinline]] both_values<F, G> fork_slowly(F&& f, G&& g) {
  slow_push const push(outsiders::enter);  // through both calls: they are one task deeper
  return push.room() != nullptr ? fork_in<F, G>(*push.room(), std::forward<F>(f), std::forward<G>(g))
                                : call_in_order(std::forward<F>(f), std::forward<G>(g));
}

template <class F, class G>
both_values<F, G> fork(F&& f, G&& g) {
  auto& stack = *this_stack;
  if (stack.top < stack.limit) [[likely]]
    return fork_in<F, G>(stack, std::forward<F>(f), std::forward<G>(g));
  return fork_slowly<F, G>(std::forward<F>(f), std::forward<G>(g));
}

// The functions from First on, Count of them, as one function that returns the tuple of their
// values.
template <std::size_t First, std::size_t Count, class All>
auto call_part(All& all) {
  using part = std::tuple_element_t<First, All>;
  if constexpr (Count == 1) {
    using value = decltype(value_of(std::declval<part>()));
    return std::tuple<value>(value_of(std::forward<part>(std::get<First>(all))));
  } else {
    constexpr std::size_t left = (Count + 1) / 2;
    auto parts = fork([&] { return call_part<First, left>(all); },
                      [&] { return call_part<First + left, Count - left>(all); });
    return std::tuple_cat(std::move(parts.left), std::move(parts.right));
  }
}

// A list of functions whose number is known only when the program runs: a vector, a span.
template <class List>
concept function_list = !std::invocable<List> && requires(List& list) {
  { std::size(list) } -> std::convertible_to<std::size_t>;
  requires std::random_access_iterator<decltype(std::begin(list))>;
  requires std::invocable<decltype(*std::begin(list))>;
};

// call(first), ..., call(first + count - 1).
template <class Call>
void call_each(std::size_t first, std::size_t count, Call const& call) {
  if (count == 1) return call(first);
  auto const left = (count + 1) / 2;
  fork([&] { call_each(first, left, call); }, [&] { call_each(first + left, count - left, call); });
}

}  // namespace detail

// Calls all of `functions` (one or more) with no arguments, possibly at once: the caller goes
// through them itself, and idle workers take those it has not come to. Returns a std::tuple of
// their results (decayed; std::monostate for void), or void when all are void.
//
// Each is called exactly once, even if others throw. When all have ended, the exception of the
// first argument that threw is rethrown.
//
// On a worker the tasks belong to its runtime. Any other thread works for the default runtime
// during the call: its tasks may be stolen, and it steals while it waits. Nests to any depth that
// the thread's stack has room for. Allocates nothing.
template <class... F>
  requires(sizeof...(F) >= 1 && (std::invocable<F> && ...))
auto fork_join(F&&... functions) {
  auto const all_values = [&] {
    if constexpr (sizeof...(F) == 1) {
      using one = std::tuple<decltype(detail::value_of(std::declval<F>()))...>;
      return one(detail::value_of(std::forward<F>(functions)...));
    } else if constexpr (sizeof...(F) == 2) {
      auto values = detail::fork(std::forward<F>(functions)...);
      return std::tuple<decltype(values.left), decltype(values.right)>(std::move(values.left), std::move(values.right));
    } else {
      auto all = std::forward_as_tuple(std::forward<F>(functions)...);
      return detail::call_part<0, sizeof...(F)>(all);
    }
  };
  if constexpr ((std::is_void_v<std::invoke_result_t<F>> && ...))
    all_values();
  else
    return all_values();
}

// The same for a list of functions, whose number may be known only when the program runs: a
// std::vector<std::function<int()>>, a std::span of lambdas. Any random access range with a size.
// Returns a std::vector of the results in the order of the list, or void if those are void. An
// empty list calls nothing. Of several exceptions, the one of the first in the list is rethrown.
//
// Functions are called where they are, at most once each, possibly in several threads at once: an
// object that is in the list twice is called twice. Allocates where there are results.
template <detail::function_list List>
auto fork_join(List&& list) {
  auto const first = std::begin(list);
  std::size_t const count = std::size(list);
  using iterator = std::remove_const_t<decltype(first)>;
  using result = std::decay_t<std::invoke_result_t<std::iter_reference_t<iterator>>>;
  auto const call = [&](std::size_t i) -> decltype(auto) {
    return first[static_cast<std::iter_difference_t<iterator>>(i)]();
  };
  if constexpr (std::is_void_v<result>) {
    if (count > 0) detail::call_each(0, count, call);
  } else {
    std::vector<std::optional<result>> made(count);
    if (count > 0) detail::call_each(0, count, [&](std::size_t i) { made[i].emplace(call(i)); });
    std::vector<result> results;
    results.reserve(count);
    for (auto& one : made) results.push_back(std::move(*one));
    return results;
  }
}

}  // namespace nigh
