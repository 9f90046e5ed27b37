// SPDX-License-Identifier: Apache-2.0
#include "openmp/own_cpus.hpp"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "base/atomic.hpp"
#include "base/published.hpp"
#include "openmp/connection.hpp"

namespace nigh::openmp {
namespace {

constinit OwnCpus at_start{};
constinit base::Published<OwnCpus const> current{};
// Written before there is another thread, and when a thread finds the whole cpuset free.
constinit sync::atomic<bool> has_whole_cpuset{false};
constinit std::uint32_t configured = 0;

void fill(OwnCpus& own, cpu_set_t const& cpus) noexcept {
  own.set = cpus;
  for (int cpu = 0; cpu < coordinator::max_cpus; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &cpus)) own.allowed.add(cpu);
  own.count = static_cast<std::uint32_t>(CPU_COUNT(&cpus));
}

cpu_set_t all_cpus() noexcept {
  cpu_set_t all;
  memset(&all, 0xff, sizeof all);
  return all;
}

}  // namespace

OwnCpus const& own_cpus() noexcept {
  auto const* const own = current.get();
  return own != nullptr ? *own : at_start;
}

bool begin_own_cpus() noexcept {
  cpu_set_t now;
  if (!read_cpus(now)) return false;
  fill(at_start, now);
  configured = static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
  if (at_start.count >= configured) {
    has_whole_cpuset.store(true, sync::relaxed);
    return true;
  }
  cpu_set_t cpuset;
  bool const is_whole = set_cpuset(cpuset) && CPU_EQUAL(&cpuset, &now) != 0;
  has_whole_cpuset.store(is_whole, sync::relaxed);
  if (!is_whole) set_cpus(now);
  return true;
}

// Sets are few, and never freed: a thread may be reading any of them.
void renew_own_cpus(cpu_set_t const& cpus) noexcept {
  has_whole_cpuset.store(true, sync::relaxed);
  OwnCpus const* known = current.get();
  if (CPU_EQUAL(&cpus, &own_cpus().set) || CPU_COUNT(&cpus) == 0) return;
  void* const memory = malloc(sizeof(OwnCpus));
  if (memory == nullptr) return;
  auto* const renewed = new (memory) OwnCpus{};
  fill(*renewed, cpus);
  renewed->next = known;
  if (!current.replace(known, renewed)) return free(memory);  // another thread has seen it, too
  renew_allowed(renewed->allowed);
}

bool may_gain_cpus() noexcept {
  return own_cpus().count < configured && has_whole_cpuset.load(sync::relaxed);
}

bool read_cpus(cpu_set_t& cpus, pid_t of) noexcept {
  CPU_ZERO(&cpus);
  return syscall(SYS_sched_getaffinity, of, sizeof cpus, &cpus) > 0;
}

bool set_cpus(cpu_set_t const& cpus) noexcept {
  return syscall(SYS_sched_setaffinity, 0, sizeof cpus, &cpus) == 0;
}

bool set_own_cpus() noexcept {
  return set_cpus(has_whole_cpuset.load(sync::relaxed) ? all_cpus() : own_cpus().set);
}

bool set_cpuset(cpu_set_t& cpus) noexcept { return set_cpus(all_cpus()) && read_cpus(cpus); }

}  // namespace nigh::openmp
