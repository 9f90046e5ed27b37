// SPDX-License-Identifier: Apache-2.0
// libgomp's parallel regions, as g++ and gfortran call them (libomp has them, too, for such
// programs). Those of g++ before 4.9 (GOMP_parallel_start) are not interposed.

#include <utility>

#include "openmp/region_scope.hpp"
#include "openmp/task_room.hpp"

namespace nigh::openmp {
namespace {

using Body = void (*)(void*);

// The threads get this in place of the region's data: one cache line.
struct alignas(64) Passed {
  void* reductions;  // first: GOMP_parallel_reductions looks for its own data's address there
  Body body;
  void* data;
  int (*thread_num)();
  Team team{};
};
static_assert(sizeof(Passed) == 64);

// Its threads know without a look where the region's tasks are.
struct PassedWithTasks : Passed {
  RoomForTasks tasks;
};

extern "C" void run_in_place(void* p) {
  auto const& passed = *static_cast<Passed const*>(p);
  MemberScope const member(passed.team,
                           [&] { return static_cast<std::uint32_t>(passed.thread_num()); });
  auto& body_of = this_thread.body_of;
  auto const before = std::exchange(body_of, reinterpret_cast<void const*>(passed.thread_num));
  passed.body(passed.data);
  body_of = before;
}

// Tasks are run before the runtime's own end of the region, which knows nothing of them.
extern "C" void run_in_place_with_tasks(void* p) {
  auto& passed = *static_cast<PassedWithTasks*>(p);
  auto const number = static_cast<std::uint32_t>(passed.thread_num());
  MemberScope const member(passed.team, [&] { return number; });
  task_hooks->enter(&passed.tasks, number, 0);
  passed.body(passed.data);
  task_hooks->leave();
}

template <class Result, class... Rest>
using Real = Result(Body, void*, unsigned, Rest...);

// The runtime's function, or where there is none, a team of one.
template <Entry entry, class Result, class... Rest>
Result run_without_runtime(Body body, void* data, unsigned clause, Rest... rest) {
  if (void* const real = real_function(nullptr, entry); real != nullptr)
    return reinterpret_cast<Real<Result, Rest...>*>(real)(body, data, clause, rest...);
  body(data);
  return Result(1);
}

template <Entry entry>
void fill(Passed& passed, Runtime const& runtime, Body body, void* data) {
  passed.reductions = entry == Entry::parallel_reductions ? *static_cast<void**>(data) : nullptr;
  passed.body = body;
  passed.data = data;
  passed.thread_num = runtime.thread_num;
}

// Apart, for its room on the stack.
template <Entry entry, class Result, class... Rest>
[[gnu::noinline]] Result run_with_tasks(void const* caller, Body body, void* data, unsigned clause,
                                        Rest... rest) {
  auto const code = reinterpret_cast<void const*>(body);
  PassedWithTasks passed;  // not {}, which would clear another cache line, too
  RegionScope scope({code, entry, caller}, {clause, false}, passed.team);
  if (scope.runtime() == nullptr) [[unlikely]]
    return run_without_runtime<entry, Result>(body, data, clause, rest...);
  fill<entry>(passed, *scope.runtime(), body, data);
  auto* const real = scope.runtime()->template function<Real<Result, Rest...>>(entry);
  TaskRoom const tasks(passed.tasks, *scope.runtime(), code, scope, passed.team, false);
  return real(tasks.team() == nullptr ? run_in_place : run_in_place_with_tasks,
              static_cast<Passed*>(&passed), scope.threads(), rest...);
}

// clang makes no jumps in a function that has had this one's variables, see below.
#if defined(__clang__)
#define NIGH_INLINE_SCOPE [[gnu::noinline]]
#else
#define NIGH_INLINE_SCOPE [[gnu::always_inline]] inline
#endif
template <Entry entry, class Result, class... Rest>
NIGH_INLINE_SCOPE Result run_with_scope(void const* caller, Body body, void* data, unsigned clause,
                                        Rest... rest) {
  auto const code = reinterpret_cast<void const*>(body);
  Passed passed;
  RegionScope scope({code, entry, caller}, {clause, false}, passed.team);
  if (scope.runtime() == nullptr) [[unlikely]]
    return run_without_runtime<entry, Result>(body, data, clause, rest...);
  fill<entry>(passed, *scope.runtime(), body, data);
  auto* const real = scope.runtime()->template function<Real<Result, Rest...>>(entry);
  return real(run_in_place, &passed, scope.threads(), rest...);
}

// If that may be. Calls at the end are jumps (-foptimize-sibling-calls): nothing of nigh stays on
// the stack below a straight call.
template <Entry entry, class Result, class... Rest>
[[gnu::noinline]] Result run_straight(void const* caller, Body body, void* data, unsigned clause,
                                      Rest... rest) {
  auto const straight = straight_call(reinterpret_cast<void const*>(body), entry, caller, clause);
  if (straight.runtime == nullptr)
    return run_with_scope<entry, Result>(caller, body, data, clause, rest...);
  auto* const real = straight.runtime->function<Real<Result, Rest...>>(entry);
  return real(body, data, straight.threads, rest...);
}

template <Entry entry, class Result, class... Rest>
Result run(void const* caller, Body body, void* data, unsigned clause, Rest... rest) {
  if (task_hooks != nullptr) [[unlikely]]
    return run_with_tasks<entry, Result>(caller, body, data, clause, rest...);
  if (may_be_straight(clause)) [[unlikely]]
    return run_straight<entry, Result>(caller, body, data, clause, rest...);
  return run_with_scope<entry, Result>(caller, body, data, clause, rest...);
}

}  // namespace
}  // namespace nigh::openmp

using nigh::openmp::Body;
using nigh::openmp::Entry;
using nigh::openmp::run;

NIGH_INTERPOSED void GOMP_parallel(Body body, void* data, unsigned threads, unsigned flags) {
  run<Entry::parallel, void>(__builtin_return_address(0), body, data, threads, flags);
}
NIGH_INTERPOSED unsigned GOMP_parallel_reductions(Body body, void* data, unsigned threads,
                                                  unsigned flags) {
  return run<Entry::parallel_reductions, unsigned>(__builtin_return_address(0), body, data, threads,
                                                   flags);
}
NIGH_INTERPOSED void GOMP_parallel_sections(Body body, void* data, unsigned threads, unsigned count,
                                            unsigned flags) {
  run<Entry::parallel_sections, void>(__builtin_return_address(0), body, data, threads, count,
                                      flags);
}

#define NIGH_LOOP(schedule)                                                                       \
  NIGH_INTERPOSED void GOMP_parallel_loop_##schedule(Body body, void* data, unsigned threads,     \
                                                     long begin, long end, long step, long chunk, \
                                                     unsigned flags) {                            \
    run<Entry::loop_##schedule, void>(__builtin_return_address(0), body, data, threads, begin,    \
                                      end, step, chunk, flags);                                   \
  }
NIGH_LOOP(static)
NIGH_LOOP(dynamic)
NIGH_LOOP(guided)
NIGH_LOOP(nonmonotonic_dynamic)
NIGH_LOOP(nonmonotonic_guided)

// The runtime decides the schedule and its chunk.
#define NIGH_RUNTIME_LOOP(schedule)                                                               \
  NIGH_INTERPOSED void GOMP_parallel_loop_##schedule(                                             \
      Body body, void* data, unsigned threads, long begin, long end, long step, unsigned flags) { \
    run<Entry::loop_##schedule, void>(__builtin_return_address(0), body, data, threads, begin,    \
                                      end, step, flags);                                          \
  }
NIGH_RUNTIME_LOOP(runtime)
NIGH_RUNTIME_LOOP(nonmonotonic_runtime)
NIGH_RUNTIME_LOOP(maybe_nonmonotonic_runtime)
