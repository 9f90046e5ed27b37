// SPDX-License-Identifier: Apache-2.0
#pragma once
// A task as clang and flang see it: libomp's kmp_task_t, which follows our descriptor.

#include <cstdint>

#include "openmp/tasks/team.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

struct KmpTask {
  using Routine = std::int32_t (*)(std::int32_t thread, KmpTask*);

  void* shareds;
  Routine routine;
  std::int32_t part;
  union {
    std::int32_t priority;
    Routine destructors;  // of the task's private variables
  } first, second;
};

inline KmpTask& kmp_task(Task& t) noexcept { return *static_cast<KmpTask*>(t.block()); }
inline Task& task_of(KmpTask& k) noexcept { return *(reinterpret_cast<Task*>(&k) - 1); }

// An untied task hands itself in again after each of its parts. The next one follows right here,
// or after a taskyield later, on any thread: what it waits for may be a task further down on this
// stack. False: later. A thread that has begun a taskgroup also ends it.
inline bool run_kmpc(Member& me, Task& t) noexcept {
  if (t.is(flag::started)) t.go_on(me);
  t.flags |= flag::started;
  KmpTask& k = kmp_task(t);
  if (k.routine == nullptr) return true;  // of taskwait depend nowait: it only has dependences
  for (;;) {
    me.again = me.has_yielded = nullptr;
    k.routine(me.global_number, &k);
    if (me.again != &t) return true;
    if (me.has_yielded == &t && me.size > 1 && (t.group == nullptr || t.group->of != &t))
      return false;
  }
}

inline void destroy_private(Member const& me, Task& t) noexcept {
  KmpTask& k = kmp_task(t);
  k.first.destructors(me.global_number, &k);
}

}  // namespace nigh::openmp::tasks
