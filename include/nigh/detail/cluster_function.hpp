// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions that cluster tasks run: every rank knows each under one number, agreed when the session
// starts. Messages carry that number, never an address.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <nigh/detail/cluster_pack.hpp>
#include <nigh/detail/export.hpp>
#include <nigh/detail/task_stack.hpp>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace nigh::cluster {

class task_scope;

namespace detail {

using nigh::detail::task_slot;
using nigh::detail::task_stack;

// The outcome of a task that ran elsewhere.
struct outcome {
  bool failed = false;
  int rank = 0;      // where it ran
  byte_view output;  // its result, or its exception's text
};

// Static, one for each function.
struct function {
  static constexpr std::uint32_t unknown = ~0u;

  std::type_info const* type;  // its name, as the compiler spells it, contains the function's
  // For a task that waits in a slot of this rank's stacks:
  void (*run)(task_slot&, task_stack* popping) noexcept;
  std::size_t (*input_bytes)(task_slot const&) noexcept;
  void (*pack)(task_slot const&, std::byte* to) noexcept;
  void (*deliver)(task_slot&, outcome const&) noexcept;  // ends what the slot holds
  void (*drop)(task_slot&) noexcept;                     // the same without a result
  // For a task from another rank. Throws what the function throws.
  void (*run_packed)(byte_view input, bytes& output);
  // They may differ, though the name is the same, where a program was compiled anew on one host
  // only.
  std::uint32_t arguments_bytes, result_bytes;

  std::uint32_t id = unknown;  // while a session lasts
  bool is_late = false;        // it came after a session had begun
  function* next = nullptr;    // of all those known
};

// Before main(), or when a library is loaded.
NIGH_API bool enlist(function& f) noexcept;
NIGH_API bool enlist_free_tasks() noexcept;  // this program has free tasks

// The slot's entry, for every function: by it an exporter recognizes a cluster task. It checks
// whether messages wait to be answered, and has the function run.
NIGH_API void run_cluster_task(task_slot& slot, task_stack* popping) noexcept;
// The same where a runtime keeps depths.
NIGH_API void run_cluster_task_at_depth(task_slot& slot, task_stack* popping) noexcept;

NIGH_API void keep_exception(task_scope* scope, std::exception_ptr e) noexcept;
NIGH_API void end_free_task() noexcept;
NIGH_API void fail_free_task(std::exception_ptr e) noexcept;
NIGH_API std::exception_ptr remote_exception(function const& f, outcome const& what) noexcept;

template <class F>
struct signature {
  static_assert(std::is_void_v<F>, "a cluster task is a function, which every rank knows: no lambda, no object");
  using result = void;
  using arguments = std::tuple<>;
  static constexpr std::size_t count = 0;
};
template <class R, class... P>
struct signature<R (*)(P...)> {
  static_assert((packable<kept_of<P>> && ...),
                "arguments of cluster tasks are trivially copyable values (no pointers, nothing move-only, no "
                "std::pair or std::tuple), strings, or vectors and spans of such values");
  static_assert(((!std::is_lvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>) &&
                 ...),
                "a cluster task gets copies: no parameter is a reference that it could write to");
  using result = std::remove_cv_t<R>;
  static_assert(std::is_void_v<R> || (packable<result> && std::is_move_assignable_v<result>),
                "the result of a cluster task is void, a trivially copyable value that can be assigned (no pointer), "
                "a string, or a vector of such values");
  using arguments = std::tuple<kept_of<P>...>;
  static constexpr std::size_t count = sizeof...(P);
};
template <class R, class... P>
struct signature<R (*)(P...) noexcept> : signature<R (*)(P...)> {};

template <auto F>
using result_of = typename signature<decltype(F)>::result;
template <auto F>
using arguments_of = typename signature<decltype(F)>::arguments;

template <auto F, class... A>
arguments_of<F> keep(A&&... arguments) {
  static_assert(sizeof...(A) == signature<decltype(F)>::count,
                "a cluster task gets as many arguments as its function has parameters");
  return [&]<std::size_t... I>(std::index_sequence<I...>) -> arguments_of<F> {
    return {for_keeping<std::tuple_element_t<I, arguments_of<F>>>(std::forward<A>(arguments))...};
  }(std::index_sequence_for<A...>());
}

template <class T>
constexpr std::uint32_t size_of() noexcept {
  if constexpr (std::is_void_v<T>)
    return 0;
  else
    return sizeof(T);
}

template <auto F>
decltype(auto) apply(arguments_of<F>& arguments) {
  return std::apply([](auto&... a) -> decltype(auto) { return F(std::move(a)...); }, arguments);
}

// A call that has not begun. Its function comes first: the one member that every slot has.
template <auto F>
struct call {
  function const* what;
  std::add_pointer_t<result_of<F>> out;
  arguments_of<F> arguments;

  void run() {
    if constexpr (std::is_void_v<result_of<F>>)
      apply<F>(arguments);
    else
      *out = apply<F>(arguments);
  }
  call& get() noexcept { return *this; }
  call const& get() const noexcept { return *this; }
};
template <auto F>
struct boxed_call {
  function const* what;
  std::unique_ptr<call<F>> box;
  call<F>& get() const noexcept { return *box; }
};
template <auto F>
using kept_call =
    std::conditional_t<sizeof(call<F>) <= task_slot::closure_bytes && alignof(call<F>) <= 8 &&
                           std::is_nothrow_move_constructible_v<call<F>>,
                       call<F>, boxed_call<F>>;

template <auto F>
struct of_function {
  using kept = kept_call<F>;
  static kept& in(task_slot& slot) noexcept {
    return *std::launder(reinterpret_cast<kept*>(slot.closure));
  }
  static kept const& in(task_slot const& slot) noexcept {
    return *std::launder(reinterpret_cast<kept const*>(slot.closure));
  }

  static void run(task_slot& slot, task_stack* popping) noexcept {
    auto* const scope = static_cast<task_scope*>(slot.object);
    kept mine(std::move(in(slot)));  // the task may put another one into the slot
    std::destroy_at(&in(slot));
    if (popping != nullptr) popping->end_taking(&slot);
    try {
      mine.get().run();
    } catch (...) {
      if (scope == nullptr) return fail_free_task(std::current_exception());
      return keep_exception(scope, std::current_exception());
    }
    if (scope == nullptr) end_free_task();
  }
  static std::size_t input_bytes(task_slot const& slot) noexcept {
    return packed_size_of(in(slot).get().arguments);
  }
  static void pack(task_slot const& slot, std::byte* to) noexcept {
    pack_all(in(slot).get().arguments, to);
  }
  static void deliver(task_slot& slot, outcome const& what) noexcept {
    auto* const scope = static_cast<task_scope*>(slot.object);
    if (what.failed) {
      keep_exception(scope, remote_exception(entry, what));
    } else {
      try {
        store(in(slot).get().out, what.output);
      } catch (...) {
        keep_exception(scope, std::current_exception());
      }
    }
    std::destroy_at(&in(slot));
  }
  static void drop(task_slot& slot) noexcept { std::destroy_at(&in(slot)); }
  static void store(void* out, byte_view output) {
    if constexpr (!std::is_void_v<result_of<F>>)
      *static_cast<result_of<F>*>(out) = unpacker(output).get<result_of<F>>();
  }
  static void run_packed(byte_view input, bytes& output) {
    auto arguments = unpack_all<arguments_of<F>>::from(input);
    if constexpr (std::is_void_v<result_of<F>>) {
      apply<F>(arguments);
    } else {
      result_of<F> const result = apply<F>(arguments);
      output.resize(packed_size(result));
      packer(output.data()).put(result);
    }
  }

  static function entry;
  static bool const known;
};
template <auto F>
constinit function of_function<F>::entry{&typeid(of_function<F>),
                                         &run,
                                         &input_bytes,
                                         &pack,
                                         &deliver,
                                         &drop,
                                         &run_packed,
                                         sizeof(arguments_of<F>),
                                         size_of<result_of<F>>()};
template <auto F>
bool const of_function<F>::known = enlist(entry);

// Listed in each program that spawns free tasks.
template <auto F>
struct free_tasks_of {
  static bool const known;
};
template <auto F>
bool const free_tasks_of<F>::known = enlist_free_tasks();

// Refers to `known`, so that the function is listed in each program that has this call.
template <auto F>
function& function_of() noexcept {
  static_cast<void>(&of_function<F>::known);
  return of_function<F>::entry;
}

}  // namespace detail
}  // namespace nigh::cluster
