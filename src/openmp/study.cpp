// SPDX-License-Identifier: Apache-2.0
#include "openmp/study.hpp"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "openmp/region_times.hpp"

namespace nigh::openmp {
namespace {

using coordinator::max_cpus;

constinit std::uint16_t cpus[max_cpus]{};
constinit Lease team{};  // size 0: no study
constinit char const* times = nullptr;

// A number at `text`, which is moved behind it; -1: there is none.
long take_number(char const*& text) {
  if (*text < '0' || *text > '9') return -1;
  char* end = nullptr;
  long const number = strtol(text, &end, 10);
  text = end;
  return number;
}

// The first `count` of the list that are allowed: a launcher may have given this process a part of
// the host.
bool read_cpus(char const* list, coordinator::CpuSet const& allowed, std::uint32_t count) {
  coordinator::CpuSet seen;
  for (std::uint32_t found = 0; found < count;) {
    long const cpu = take_number(list);
    if (cpu < 0) return false;
    int const number = cpu < max_cpus ? static_cast<int>(cpu) : -1;
    if (allowed.has(number) && !seen.has(number)) {
      seen.add(number);
      cpus[found++] = static_cast<std::uint16_t>(number);
    }
    if (found < count && *list++ != ',') return false;
  }
  return true;
}

void first_cpus(coordinator::CpuSet const& allowed, std::uint32_t count) {
  std::uint32_t i = 0;
  for (int cpu = 0; i < count; ++cpu)
    if (allowed.has(cpu)) cpus[i++] = static_cast<std::uint16_t>(cpu);
}

}  // namespace

char const* begin_study(coordinator::CpuSet const& allowed, std::uint32_t allowed_cpus) noexcept {
  char const* size = getenv("NIGH_OPENMP_TEAM");
  if (size == nullptr || *size == '\0') return nullptr;
  long const count = take_number(size);
  if (*size != '\0' || count < 1 || count > static_cast<long>(allowed_cpus))
    return "NIGH_OPENMP_TEAM is no number of allowed cpus";
  auto const threads = static_cast<std::uint32_t>(count);
  char const* const list = getenv("NIGH_OPENMP_CPUS");
  if (list == nullptr || *list == '\0')
    first_cpus(allowed, threads);
  else if (!read_cpus(list, allowed, threads))
    return "NIGH_OPENMP_CPUS does not list enough allowed cpus";
  times = getenv("NIGH_OPENMP_TIMES");
  if (times != nullptr && *times != '\0' && !begin_region_times()) return "no memory for times";
  team = {cpus, threads, 0};
  return nullptr;
}

Lease const* study_team() noexcept { return team.size > 0 ? &team : nullptr; }

void end_study() noexcept {
  if (team.size == 0 || times == nullptr) return;
  char file[PATH_MAX];
  int const length = snprintf(file, sizeof file, "%s.%d", times, static_cast<int>(getpid()));
  if (length > 0 && length < static_cast<int>(sizeof file)) write_region_times(file, team.size);
}

}  // namespace nigh::openmp
