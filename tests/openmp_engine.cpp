// SPDX-License-Identifier: Apache-2.0
#include "openmp_engine.hpp"

#include "openmp/tasks/settings.hpp"
#include "platform/cpu_places.hpp"

namespace nigh::test {
namespace {
thread_local int cpu_of_this_thread = -1;
}
void run_on(int cpu) { cpu_of_this_thread = cpu; }
}  // namespace nigh::test

namespace nigh::platform {

std::uint32_t domains() noexcept { return 4; }

int domain_of(void const* address) noexcept {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) >> 16U & 3U);
}

int cpu_of_thread() noexcept { return test::cpu_of_this_thread; }

CpuPlace place_of(int cpu) noexcept {
  auto const lowest_of = [cpu](int cpus) { return static_cast<std::uint16_t>(cpu / cpus * cpus); };
  return {.core = lowest_of(2),
          .l2 = lowest_of(2),
          .l3 = lowest_of(4),
          .package = lowest_of(16),
          .domain = static_cast<std::uint16_t>(cpu / 8)};
}

std::uint32_t distance_of_domains(std::uint32_t from, std::uint32_t to) noexcept {
  return from == to ? 10 : from / 2 == to / 2 ? 12 : 32;
}

}  // namespace nigh::platform

// No task has settings of its own: there is no omp_set_num_threads() here.
namespace nigh::openmp::tasks {

void inherit_settings(Member& /*unused*/, Task& /*unused*/) noexcept {}
void begin_settings(Task& /*unused*/) noexcept {}
void end_settings(Task& /*unused*/) noexcept {}
void run_with_settings(Member& me, Task& t) noexcept { run_plainly(me, t); }
void call_by_settings_before(Member& me, std::uint32_t tasks) noexcept {
  me.team->call(*me.team, tasks);
}

}  // namespace nigh::openmp::tasks
