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

// An untied task hands itself in again after each of its parts: the next one follows right here.
inline void run_kmpc(Member& me, Task& t) noexcept {
  t.flags |= flag::started;
  KmpTask& k = kmp_task(t);
  if (k.routine == nullptr) return;  // of taskwait depend nowait: it only has dependences
  do {
    me.again = nullptr;
    k.routine(me.global_number, &k);
  } while (me.again == &t);
}

inline void destroy_private(Member const& me, Task& t) noexcept {
  KmpTask& k = kmp_task(t);
  k.first.destructors(me.global_number, &k);
}

}  // namespace nigh::openmp::tasks
