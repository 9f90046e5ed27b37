// SPDX-License-Identifier: Apache-2.0
// libomp's parallel regions, as clang, flang and icx call them. The program passes its variables
// one by one; the runtime is given one argument that points to them.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <array>
#include <type_traits>
#include <utility>

#include "openmp/region_scope.hpp"
#include "openmp/task_room.hpp"

namespace nigh::openmp {
namespace {

using Microtask = void (*)(std::int32_t* thread, std::int32_t* number, ...);

struct alignas(64) Passed {
  Microtask body;
  std::uint32_t count;
  void** arguments;
  Team team{};
  void* tasks = nullptr;  // the region's, if they are nigh's
};
static_assert(sizeof(Passed) == 64);

// Calls with at least as many arguments as the body takes: in the calling conventions of Linux the
// caller cleans up, and arguments that are not read do no harm. So four forms are enough. Each has
// a function of its own, so that the stack has room for the arguments of that one only.
constexpr std::array<std::uint32_t, 4> forms{6, 32, 128, 1024};

constexpr std::uint32_t with_padding(std::uint32_t count) noexcept {
  for (auto const form : forms)
    if (count <= form) return form;
  return 0;
}

template <class... First, std::size_t... I>
[[gnu::noinline]] void call_form(void (*function)(First..., ...), First... first,
                                 void* const* arguments, std::index_sequence<I...>) {
  function(first..., arguments[I]...);
}

// function(first..., the arguments...).
template <class... First>
void call(void (*function)(First..., ...), std::uint32_t count, void* const* arguments,
          std::type_identity_t<First>... first) {
  if (count <= forms[0])
    call_form<First...>(function, first..., arguments, std::make_index_sequence<forms[0]>{});
  else if (count <= forms[1])
    call_form<First...>(function, first..., arguments, std::make_index_sequence<forms[1]>{});
  else if (count <= forms[2])
    call_form<First...>(function, first..., arguments, std::make_index_sequence<forms[2]>{});
  else
    call_form<First...>(function, first..., arguments, std::make_index_sequence<forms[3]>{});
}

void call_body(Passed const& p, std::int32_t* thread, std::int32_t* number) {
  call(p.body, p.count, p.arguments, thread, number);
}

extern "C" void run_in_place_kmpc(std::int32_t* thread, std::int32_t* number, Passed* p) {
  MemberScope const member(p->team, [&] { return static_cast<std::uint32_t>(*number); });
  call_body(*p, thread, number);
}

// Tasks are run before the runtime's own end of the region, which knows nothing of them.
extern "C" void run_in_place_kmpc_with_tasks(std::int32_t* thread, std::int32_t* number,
                                             Passed* p) {
  auto const k = static_cast<std::uint32_t>(*number);
  MemberScope const member(p->team, [&] { return k; });
  task_hooks->enter(p->tasks, k, *thread);
  call_body(*p, thread, number);
  task_hooks->leave();
}

using Fork = void(void* where, std::int32_t count, Microtask body, ...);
using PushThreads = void(void* where, std::int32_t thread, std::int32_t threads);

Microtask const task = reinterpret_cast<Microtask>(reinterpret_cast<void*>(run_in_place_kmpc));
Microtask const task_with_tasks =
    reinterpret_cast<Microtask>(reinterpret_cast<void*>(run_in_place_kmpc_with_tasks));

// The runtime's function, or where there is none, a team of one.
void fork_without_runtime(void* where, Passed& passed) {
  void* const real = real_function(nullptr, Entry::fork_call);
  if (real != nullptr) return reinterpret_cast<Fork*>(real)(where, 1, task, &passed);
  std::int32_t thread = 0, number = 0;
  call_body(passed, &thread, &number);
}

// By the runtime itself, for threads of its own. Apart, for its room on the stack.
[[gnu::noinline]] void fork_as_runtime_does(void const* caller, std::uint32_t count, Microtask body,
                                            void** arguments) {
  auto const code = reinterpret_cast<void const*>(body);
  Passed passed{body, count, arguments};
  Runtime const* const runtime = find_region(code, Entry::fork_call, caller).runtime;
  if (runtime == nullptr) return fork_without_runtime(nullptr, passed);
  runtime->function<Fork>(Entry::fork_call)(nullptr, 1, task, &passed);
}

// Apart, for its room on the stack.
[[gnu::noinline]] void fork_with_tasks(Fork* real, void* where, RegionScope const& scope,
                                       void const* code, Passed& passed) {
  RoomForTasks room;
  TaskRoom const tasks(room, *scope.runtime(), code, scope, passed.team, true);
  passed.tasks = tasks.team();
  real(where, 1, passed.tasks == nullptr ? task : task_with_tasks, &passed);
}

void push_threads(Runtime const& runtime, void* where, std::uint32_t threads) {
  auto* const push = runtime.function<PushThreads>(Entry::push_num_threads);
  if (push != nullptr && runtime.global_thread_num != nullptr)
    push(where, runtime.global_thread_num(where), static_cast<std::int32_t>(threads));
}

[[gnu::noinline]] void fork_with_scope(void const* caller, void* where, Clause clause,
                                       std::uint32_t count, Microtask body, void** arguments) {
  auto const code = reinterpret_cast<void const*>(body);
  Passed passed{body, count, arguments};
  RegionScope scope({code, Entry::fork_call, caller}, clause, passed.team);
  if (scope.runtime() == nullptr) [[unlikely]]
    return fork_without_runtime(where, passed);
  auto* const real = scope.runtime()->function<Fork>(Entry::fork_call);
  if (scope.threads() != clause.threads) push_threads(*scope.runtime(), where, scope.threads());
  if (task_hooks != nullptr) [[unlikely]]
    return fork_with_tasks(real, where, scope, code, passed);
  real(where, 1, task, &passed);
}

// False: it needs a scope.
bool fork_straight(void const* caller, void* where, Clause clause, std::uint32_t count,
                   Microtask body, void* const* arguments) {
  auto const code = reinterpret_cast<void const*>(body);
  auto const straight = straight_call(code, Entry::fork_call, caller, clause.threads);
  if (straight.runtime == nullptr) return false;
  if (straight.threads != clause.threads) push_threads(*straight.runtime, where, straight.threads);
  call(straight.runtime->function<Fork>(Entry::fork_call), count, arguments, where,
       static_cast<std::int32_t>(count), body);
  return true;
}

// `arguments` are padded.
void fork(void const* caller, void* where, std::uint32_t count, Microtask body, void** arguments) {
  if (where == nullptr) return fork_as_runtime_does(caller, count, body, arguments);
  Clause const clause = std::exchange(this_thread.clause, {});
  if (task_hooks == nullptr && may_be_straight(clause.threads) &&
      fork_straight(caller, where, clause, count, body, arguments)) [[unlikely]]
    return;
  fork_with_scope(caller, where, clause, count, body, arguments);
}

// The clause is kept for the region that follows, as the runtime keeps it.
template <Entry entry, class... Rest>
void announce(void const* caller, Clause clause, void* where, std::int32_t thread, Rest... rest) {
  this_thread.clause = clause;
  void* const real = real_function(find_caller(caller, entry).runtime, entry);
  using Real = void(void*, std::int32_t, Rest...);
  if (real != nullptr) reinterpret_cast<Real*>(real)(where, thread, rest...);
}

// A region of one thread, whose body the program calls itself.
void begin_serial_with_tasks(void const* caller, std::int32_t thread) {
  Runtime const* const runtime = find_caller(caller, Entry::serialized_parallel).runtime;
  if (runtime != nullptr)
    task_hooks->begin_serial(reinterpret_cast<void const*>(runtime->thread_num), thread);
}

// A region whose if() is false. Its body is called here, as libomp does it: libomp's calls of its
// own functions would not reach the library for tasks. False: it cannot be.
bool run_serial_with_tasks(Runtime const& runtime, void* where, Microtask body, void* argument) {
  using Begin = void(void*, std::int32_t);
  auto* const begin = runtime.function<Begin>(Entry::serialized_parallel);
  if (begin == nullptr || runtime.end_serialized == nullptr || runtime.global_thread_num == nullptr)
    return false;
  std::int32_t thread = runtime.global_thread_num(where), number = 0;
  begin(where, thread);
  task_hooks->begin_serial(reinterpret_cast<void const*>(runtime.thread_num), thread);
  body(&thread, &number, argument);
  task_hooks->end_serial();
  runtime.end_serialized(where, thread);
  return true;
}

Clause clause(std::int32_t threads, bool is_strict) {
  return {threads > 0 ? static_cast<std::uint32_t>(threads) : 0, is_strict};
}

}  // namespace
}  // namespace nigh::openmp

using nigh::openmp::announce;
using nigh::openmp::clause;
using nigh::openmp::Entry;
using nigh::openmp::Microtask;

NIGH_INTERPOSED void __kmpc_push_num_threads(void* where, std::int32_t thread,
                                             std::int32_t threads) {
  announce<Entry::push_num_threads>(__builtin_return_address(0), clause(threads, false), where,
                                    thread, threads);
}
NIGH_INTERPOSED void __kmpc_push_num_threads_strict(void* where, std::int32_t thread,
                                                    std::int32_t threads, int severity,
                                                    char const* message) {
  announce<Entry::push_num_threads_strict>(__builtin_return_address(0), clause(threads, true),
                                           where, thread, threads, severity, message);
}
// One for each level of nesting.
NIGH_INTERPOSED void __kmpc_push_num_threads_list(void* where, std::int32_t thread,
                                                  std::uint32_t levels, std::int32_t* threads) {
  announce<Entry::push_num_threads_list>(__builtin_return_address(0), clause(threads[0], false),
                                         where, thread, levels, threads);
}
NIGH_INTERPOSED void __kmpc_push_num_threads_list_strict(void* where, std::int32_t thread,
                                                         std::uint32_t levels,
                                                         std::int32_t* threads, int severity,
                                                         char const* message) {
  announce<Entry::push_num_threads_list_strict>(__builtin_return_address(0),
                                                clause(threads[0], true), where, thread, levels,
                                                threads, severity, message);
}
// The other branch of a clause: if() was false.
NIGH_INTERPOSED void __kmpc_serialized_parallel(void* where, std::int32_t thread) {
  announce<Entry::serialized_parallel>(__builtin_return_address(0), {}, where, thread);
  if (nigh::openmp::task_hooks != nullptr) [[unlikely]]
    nigh::openmp::begin_serial_with_tasks(__builtin_return_address(0), thread);
}

NIGH_INTERPOSED void __kmpc_fork_call(void* where, std::int32_t count, Microtask body, ...) {
  auto const given = count < 0 ? 0U : static_cast<std::uint32_t>(count);
  auto const padded = nigh::openmp::with_padding(given);
  if (padded == 0) {
    fprintf(stderr, "nigh: a parallel region with %u variables is more than can be passed on\n",
            given);
    abort();
  }
  auto** const arguments = static_cast<void**>(__builtin_alloca(padded * sizeof(void*)));
  va_list list;
  va_start(list, body);
  for (std::uint32_t i = 0; i < given; ++i) arguments[i] = va_arg(list, void*);
  va_end(list);
  for (auto i = given; i < padded; ++i) arguments[i] = nullptr;
  nigh::openmp::fork(__builtin_return_address(0), where, given, body, arguments);
}

// flang's, and clang's where OpenMPIRBuilder makes its code, for regions with an if(). The
// runtime's own calls of __kmpc_fork_call cannot be interposed.
NIGH_INTERPOSED void __kmpc_fork_call_if(void* where, std::int32_t count, Microtask body,
                                         std::int32_t is_parallel, void* argument) {
  void const* const caller = __builtin_return_address(0);
  if (is_parallel != 0) {
    std::array<void*, nigh::openmp::forms[0]> arguments{argument};
    nigh::openmp::fork(caller, where, argument == nullptr ? 0 : 1, body, arguments.data());
    return;
  }
  nigh::openmp::this_thread.clause = {};
  auto const* const runtime = nigh::openmp::find_caller(caller, Entry::fork_call_if).runtime;
  if (nigh::openmp::task_hooks != nullptr && runtime != nullptr &&
      nigh::openmp::run_serial_with_tasks(*runtime, where, body, argument))
    return;
  void* const real = nigh::openmp::real_function(runtime, Entry::fork_call_if);
  using Real = void(void*, std::int32_t, Microtask, std::int32_t, void*);
  if (real != nullptr) {
    reinterpret_cast<Real*>(real)(where, count, body, is_parallel, argument);
    return;
  }
  std::int32_t thread = 0, number = 0;
  body(&thread, &number, argument);
}
