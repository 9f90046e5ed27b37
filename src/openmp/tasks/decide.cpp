// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/decide.hpp"

#include <stdlib.h>
#include <string.h>

#include <string_view>

#include "base/atomic.hpp"
#include "openmp/tool.hpp"
#include "platform/loaded_objects.hpp"

namespace nigh::openmp::tasks {
namespace {

constexpr std::string_view makers[]{"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull",
                                    "__kmpc_omp_task_alloc"};
// A target region with nowait or depend is a task of the runtime's own.
constexpr std::string_view of_devices[]{"GOMP_target_ext",
                                        "GOMP_target_update_ext",
                                        "GOMP_target_enter_exit_data",
                                        "__kmpc_omp_target_task_alloc",
                                        "__tgt_target_kernel_nowait",
                                        "__tgt_target_nowait_mapper"};

// A loop, sections or a scope with reduction(task, ...).
constexpr std::string_view of_reductions = "GOMP_workshare_task_reduction_unregister";

struct Calls {
  bool makes_tasks = false, uses_devices = false, uses_unknown = false, reduces = false;
};

// Of a newer compiler, or a look into libomp's own tasks: it would find none of ours.
constexpr std::string_view unknown_ones[]{"__kmpc_task_get_successors", "__kmpc_task_get_depnode",
                                          "__kmpc_task_is_completed", "__kmpc_start_record_task",
                                          "__kmpc_taskgraph", "__kmpc_omp_has_task_team",
                                          "__kmpc_taskwait_deps",
                                          // Sets what OMP_CANCELLATION would.
                                          "kmp_set_defaults", "kmp_set_defaults_"};

void look_at(std::string_view name, void* result) noexcept {
  auto& calls = *static_cast<Calls*>(result);
  calls.reduces |= name == of_reductions;
  if (!name.starts_with("GOMP_t") && !name.starts_with("__kmpc_") && !name.starts_with("__tgt_") &&
      !name.starts_with("kmp_set_"))
    return;
  for (auto const maker : makers) calls.makes_tasks |= name == maker;
  for (auto const unknown : unknown_ones) calls.uses_unknown |= name == unknown;
  for (auto const device : of_devices) calls.uses_devices |= name == device;
}

// In any case of its letters.
bool begins_with(char const* text, char const* word) noexcept {
  constexpr int to_lower = 0x20;
  for (; *word != '\0'; ++text, ++word)
    if ((*text | to_lower) != *word) return false;
  return true;
}

// Runtimes read "true" in many ways, as " TRUE", "t" or "enabled": what does not look like "false"
// may be true.
enum class Means : std::uint8_t { nothing, no, perhaps_yes };
Means meaning_of(char const* name) noexcept {
  char const* value = getenv(name);
  if (value == nullptr) return Means::nothing;
  value += strspn(value, " \t\n\v\f\r.");
  for (char const* const no : {"f", "n", "of", "0", "dis"})
    if (begins_with(value, no)) return Means::no;
  return *value == '\0' ? Means::nothing : Means::perhaps_yes;
}

// Without it all priorities are 0 (OpenMP's max-task-priority-var).
bool has_priorities() noexcept {
  char const* const most = getenv("OMP_MAX_TASK_PRIORITY");
  return most != nullptr && strtol(most, nullptr, 10) > 0;
}

constinit sync::atomic<std::uint8_t> decided{static_cast<std::uint8_t>(Left::unknown)};
constinit sync::atomic<unsigned long long> objects_seen{0};
constinit sync::atomic<bool> reduces{false};

Left look() noexcept {
  if (meaning_of("OMP_CANCELLATION") == Means::perhaps_yes) return Left::cancellation;
  if (meaning_of("KMP_ENABLE_TASK_THROTTLING") == Means::no) return Left::unbounded;
  if (has_priorities()) return Left::priorities;
  if (tool_of_the_user() != nullptr) return Left::tool;
  Calls calls;
  platform::for_each_import(look_at, &calls);
  reduces.store(calls.reduces, sync::relaxed);
  if (calls.uses_devices) return Left::device;
  if (calls.uses_unknown) return Left::unknown_calls;
  return calls.makes_tasks ? Left::none : Left::no_tasks;
}

}  // namespace

void begin_deciding() noexcept {
  char const* const said = getenv("NIGH_TASKS");
  if (said != nullptr && strcmp(said, "off") == 0)
    decided.store(static_cast<std::uint8_t>(Left::switched_off), sync::relaxed);
}

bool reduces_tasks_of_loops() noexcept { return reduces.load(sync::relaxed); }

void leave_alone(Left why) noexcept {
  decided.store(static_cast<std::uint8_t>(why), sync::relaxed);
}

void look_again() noexcept {
  auto no_tasks = static_cast<std::uint8_t>(Left::no_tasks);
  // A task outside of a region comes by each time.
  if (decided.load(sync::relaxed) != no_tasks) [[likely]]
    return;
  decided.compare_exchange_strong(no_tasks, static_cast<std::uint8_t>(Left::unknown),
                                  sync::relaxed);
}

// The calls of a library that is opened later count from the next region on. Where nobody makes
// tasks, the first one that somebody makes all the same has the objects looked at again.
Left why_left_alone() noexcept {
  auto const now = static_cast<Left>(decided.load(sync::relaxed));
  if (now != Left::none && now != Left::unknown) [[likely]]
    return now;
  auto const objects = platform::times_loaded();
  if (now != Left::unknown && objects_seen.load(sync::relaxed) == objects) return now;
  Left const found = look();
  decided.store(static_cast<std::uint8_t>(found), sync::relaxed);
  objects_seen.store(objects, sync::relaxed);
  return found;
}

}  // namespace nigh::openmp::tasks
