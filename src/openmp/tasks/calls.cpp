// SPDX-License-Identifier: Apache-2.0
// How the threads that wait in a runtime's barrier are called (elsewhere.cpp): they run the
// runtime's own tasks there.

#include <stdlib.h>

#include <algorithm>
#include <new>
#include <string_view>

#include "openmp/tasks/decide.hpp"
#include "openmp/tasks/kmp_task.hpp"
#include "openmp/tasks/near_data.hpp"
#include "openmp/tasks/real.hpp"
#include "openmp/tasks/team.hpp"
#include "openmp/tasks/trace.hpp"
#include "platform/fence_everywhere.hpp"

namespace nigh::openmp::tasks {
namespace {

NIGH_REAL_AS(gomp_task, "GOMP_task");
NIGH_REAL_AS(kmpc_thread_num, "__kmpc_global_thread_num");
NIGH_REAL_AS(kmpc_task_alloc, "__kmpc_omp_task_alloc");
NIGH_REAL_AS(kmpc_task, "__kmpc_omp_task");

struct Call {
  Team* team;
  std::uint32_t further;  // it makes so many more
};

// A thread makes few, for libomp runs a task at once where 256 wait: those make the others.
template <class MakeTask>
void make_calls(Team& team, std::uint32_t calls, MakeTask make_task) noexcept {
  auto const few = std::min<std::uint32_t>(calls, 64);
  for (std::uint32_t i = 0; i < few; ++i)
    make_task(Call{&team, (calls - few) / few + (i < (calls - few) % few ? 1 : 0)});
}

void call_by_gomp(Team& team, std::uint32_t tasks) noexcept {
  using MakeTask = void (*)(void (*)(void*), void*, void (*)(void*, void*), long, long, bool,
                            unsigned, void**, int, void*);
  auto* const make = reinterpret_cast<MakeTask>(gomp_task.find(nullptr));
  auto const body = [](void* arguments) {
    auto const& call = *static_cast<Call const*>(arguments);
    answer_call(*call.team, call.further);
  };
  make_calls(team, tasks, [=](Call call) {
    make(body, &call, nullptr, sizeof(Call), alignof(Call), true, 0, nullptr, 0, nullptr);
  });
}

void call_by_kmpc(Team& team, std::uint32_t tasks) noexcept {
  constexpr std::int32_t tied = 1;
  using ThreadNum = std::int32_t (*)(void*);
  using Alloc =
      KmpTask* (*)(void*, std::int32_t, std::int32_t, std::size_t, std::size_t, KmpTask::Routine);
  using MakeTask = std::int32_t (*)(void*, std::int32_t, KmpTask*);
  auto const me = reinterpret_cast<ThreadNum>(kmpc_thread_num.find(nullptr))(nullptr);
  auto* const alloc = reinterpret_cast<Alloc>(kmpc_task_alloc.find(nullptr));
  auto* const make = reinterpret_cast<MakeTask>(kmpc_task.find(nullptr));
  auto const body = [](std::int32_t, KmpTask* task) -> std::int32_t {
    auto const& call = *static_cast<Call const*>(task->shareds);
    answer_call(*call.team, call.further);
    return 0;
  };
  make_calls(team, tasks, [=](Call call) {
    KmpTask* const task = alloc(nullptr, me, tied, sizeof(KmpTask), sizeof(Call), body);
    new (task->shareds) Call(call);
    make(nullptr, me, task);
  });
}

// In its other modes, a thread runs each task at once, or only where all have arrived.
constinit bool is_usual_libomp = true;
// By which it is known who waits there (meeting.L).
constinit bool has_fence = false;
__attribute__((constructor)) void look_around() {
  char const* const mode = getenv("KMP_TASKING");
  is_usual_libomp = mode == nullptr || std::string_view(mode) == "2";
  has_fence = platform::fence_everywhere();
}

}  // namespace

// A trace shows who waits; a thread that comes back may be in any domain; and there it has no part
// of gcc's loops with reductions of tasks.
void wait_elsewhere(Team& team) noexcept {
  if (!has_fence || team.had_tasks || traced.file != nullptr || tasks_stay_in_domains()) return;
  if (team.is_kmpc)
    team.call = is_usual_libomp ? call_by_kmpc : nullptr;
  else
    team.call = reduces_tasks_of_loops() ? nullptr : call_by_gomp;
}

}  // namespace nigh::openmp::tasks
