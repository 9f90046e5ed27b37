// SPDX-License-Identifier: Apache-2.0
#include "cli/findings.hpp"

#include <fmt/format.h>

#include <optional>

#include "cli/installed_files.hpp"
#include "policy/cpus/thread_count.hpp"

namespace nigh::cli {
namespace {

using Found = std::optional<Finding>;

// Below this share of the machine, other load is the system's usual background.
constexpr double noticeable_share = 0.25;

std::string cpus(int n) { return fmt::format("{} {}", n, n == 1 ? "cpu" : "cpus"); }

// After advice to use it.
std::string where_numa_vm_is(Facts const& f) {
  return f.has_numa_vm ? "" : fmt::format(" numa-vm is not installed here; {}it.", who_has_more);
}

Found one_domain(Facts const& f) {
  if (f.domains > 1) return {};
  std::string how = "Nothing needs mending. ";
  if (f.limits.virtual_machine)
    how = "If the host has several, ask for a virtual machine that shows them (virtual NUMA). ";
  return Finding{"one-domain", "This machine has one locality domain: no NUMA.",
                 "All memory is equally near, so placements and locality queues have nothing to "
                 "choose between; nigh still pins its workers and keeps an idle machine idle.",
                 how +
                     "To see what a program does on several domains, boot them: numa-vm --nodes 4 "
                     "--cores 2 --meter -- PROGRAM." +
                     where_numa_vm_is(f)};
}

Found restricted_cpus(Facts const& f) {
  if (f.cpus_allowed >= f.cpus_present) return {};
  return Finding{
      "restricted-cpus",
      fmt::format("This process may run on {} of {}.", f.cpus_allowed, cpus(f.cpus_present)),
      "An affinity mask or a cgroup cpuset says so, and nigh keeps to it: it starts no more "
      "workers than allowed cpus, and sees only their domains.",
      "If that is not meant: taskset, numactl, the container (--cpuset-cpus) or the batch "
      "system (--cpus-per-task) set it; `nigh topo` shows which cpus are left out."};
}

Found restricted_memory(Facts const& f) {
  if (f.limits.nodes_allowed >= f.limits.nodes_with_memory) return {};
  return Finding{
      "restricted-memory",
      fmt::format("This process may take memory from {} of {} NUMA nodes.", f.limits.nodes_allowed,
                  f.limits.nodes_with_memory),
      "Pages that a placement gives to another node end up elsewhere; placement_report() "
      "counts them as misplaced.",
      "Widen the cgroup's cpuset.mems (containers: --cpuset-mems; numactl: --membind)."};
}

Found cpu_quota(Facts const& f) {
  if (!f.limits.cpu_quota || *f.limits.cpu_quota >= f.cpus_allowed) return {};
  std::string what = fmt::format("A cgroup grants {:.3g} cpus' worth of time on {}.",
                                 *f.limits.cpu_quota, cpus(f.cpus_allowed));
  if (auto const& stops = f.limits.throttling; stops && stops->throttled > 0)
    what += fmt::format(" Its programs have used it up in {} of {} periods.", stops->throttled,
                        stops->periods);
  int const whole = policy::whole_cpus(*f.limits.cpu_quota);
  return Finding{
      "cpu-quota", what,
      "Programs that `nigh run` starts, nigh's runtimes and the coordinator's leases keep to it. "
      "When other threads have used it up, all in the cgroup stop until the next period, in the "
      "middle of whatever they hold.",
      fmt::format("Raise the quota (cpu.max; containers: --cpus), or give programs that set their "
                  "own number of threads {}.",
                  whole == 1 ? std::string("one thread") : fmt::format("{} threads", whole))};
}

Found odd_cgroup(Facts const& f) {
  if (f.limits.odd_cgroup.empty()) return {};
  return Finding{"odd-cgroup", "A cgroup's files are not as expected: " + f.limits.odd_cgroup + '.',
                 "If it has a quota of cpu time, nigh does not see it: teams may be too large, and "
                 "all their threads stop when the quota is used up.",
                 "Say the number of threads yourself (nigh run --threads, OMP_NUM_THREADS, "
                 "NIGH_WORKERS) if there is a quota."};
}

// A share of the machine, not of the allowed cpus: the system counts its threads for all of them.
Found oversubscription(Facts const& f) {
  if (!f.limits.load || *f.limits.load < 1.0 || *f.limits.load < noticeable_share * f.cpus_present)
    return {};
  return Finding{
      "oversubscription",
      fmt::format("Other programs keep this machine busy: {:.1f} threads wanted to run in the last "
                  "minute{}, and it has {}.",
                  *f.limits.load,
                  f.limits.runnable ? fmt::format(" ({} do now)", *f.limits.runnable) : "",
                  cpus(f.cpus_present)),
      "A pinned worker waits for its own cpu while another stands idle, and every measurement "
      "measures the neighbours too.",
      "Run when the machine is quiet, or give each program cpus of its own (taskset -c LIST); nigh "
      "then keeps to them."};
}

Found memory_binding(Facts const& f) {
  if (f.probes.bind_memory.empty()) return {};
  return Finding{
      "no-memory-binding",
      fmt::format("The system refuses to bind memory to a domain (mbind: {}).",
                  f.probes.bind_memory),
      "Placements fall back to first touch by threads that run in the wanted domain, which "
      "is slower to set up and cannot reach memory-only domains.",
      "In a container add the capability SYS_NICE, or a seccomp profile that lets mbind "
      "through."};
}

Found page_queries(Facts const& f) {
  if (f.probes.locate_pages.empty()) return {};
  return Finding{
      "no-page-queries",
      fmt::format("The system does not tell where pages lie (move_pages: {}).",
                  f.probes.locate_pages),
      "placement_report() cannot check a placement, migrate() cannot move pages, and tasks "
      "near a pointer outside nigh::array run anywhere.",
      "In a container add the capability SYS_NICE, or a seccomp profile that lets "
      "move_pages through."};
}

Found automatic_balancing(Facts const& f) {
  if (!f.limits.numa_balancing.value_or(false) || f.domains < 2) return {};
  return Finding{
      "numa-balancing", "The kernel moves pages between domains on its own (AutoNUMA).",
      "It takes pages away to see who uses them, which costs faults, and may move what a "
      "placement has put where the tasks are.",
      "For programs that place their memory: sysctl kernel.numa_balancing=0 (as root)."};
}

Found huge_pages(Facts const& f) {
  if (f.limits.huge_pages != "never") return {};
  return Finding{
      "no-huge-pages", "Transparent huge pages are off.",
      "Large arrays need 512 times as many entries in the processor's address tables, and "
      "array_options::huge_pages has no effect.",
      "As root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
}

Found governor(Facts const& f) {
  auto const& name = f.limits.governor;
  if (name.empty() || name == "performance") return {};
  return Finding{
      "governor", fmt::format("The cpu frequency governor is '{}'.", name),
      "A cpu that was idle runs slower at first, so short parallel parts take longer and "
      "timings vary.",
      "To measure: cpupower frequency-set -g performance (as root)."};
}

Found hardware_threads(Facts const& f) {
  if (f.cpus_allowed <= f.cores_allowed) return {};
  return Finding{
      "smt", fmt::format("{} share {} cores (SMT).", cpus(f.cpus_allowed), f.cores_allowed),
      "Two workers on one core share its caches and its path to memory: loops that are "
      "limited by memory gain nothing from the second.",
      fmt::format("Try runtime_options::workers = {}: the default order gives every core "
                  "one worker before any gets two.",
                  f.cores_allowed)};
}

Found virtual_machine(Facts const& f) {
  if (!f.limits.virtual_machine) return {};
  return Finding{
      "virtual-machine", "This is a virtual machine.",
      "Its host may move virtual cpus and memory around, so what nigh pins stays only as "
      "near as the host keeps it, and timings include the host's other guests.",
      "Where you can, pin the virtual cpus on the host; compare ratios taken in one run "
      "rather than absolute times."};
}

// Two different reasons for missing counters, with two different remedies.
Found hardware_counters(Facts const& f) {
  if (f.probes.hardware_counters.empty()) return {};
  int const paranoid = f.limits.perf_event_paranoid.value_or(0);
  std::string how =
      "This processor (or virtual machine) shows none; there is nothing to set. numa-vm --meter "
      "counts local and remote accesses exactly, without them.";
  if (paranoid > 2)
    how = fmt::format(
        "As root: sysctl kernel.perf_event_paranoid=2 (it is {}). Or use numa-vm --meter, which "
        "counts local and remote accesses exactly, without them.",
        paranoid);
  how += where_numa_vm_is(f);
  return Finding{"no-hardware-counters",
                 fmt::format("Hardware counters cannot be read (perf_event_open: {}).",
                             f.probes.hardware_counters),
                 "Tools such as perf cannot show how many accesses go to remote memory; nigh's own "
                 "counts of local and remote tasks do not need them.",
                 how};
}

Found thread_pools(Facts const& f) {
  if (f.pools.empty()) return {};
  std::string list;
  for (auto const& pool : f.pools) list += (list.empty() ? "" : "; ") + pool;
  return Finding{
      "thread-pools",
      fmt::format("Programs that share this host have threads on no granted cpus: {}.", list),
      "The coordinator leases cpus to parallel regions of OpenMP and to nigh's own runtime. "
      "Other pools have as many threads as they please, beside whoever holds the cpus.",
      "Give each of them a size when its program starts: OPENBLAS_NUM_THREADS, "
      "BLIS_NUM_THREADS, NUMBA_NUM_THREADS, RAYON_NUM_THREADS, POLARS_MAX_THREADS. Or let those of "
      "OpenBLAS follow the number of programs: nigh run --adjust openblas."};
}

}  // namespace

std::vector<Finding> diagnose(Facts const& facts) {
  std::vector<Finding> findings;
  for (auto const look :
       {one_domain, restricted_cpus, restricted_memory, cpu_quota, odd_cgroup, memory_binding,
        page_queries, automatic_balancing, oversubscription, thread_pools, hardware_threads,
        huge_pages, governor, virtual_machine, hardware_counters})
    if (auto found = look(facts)) findings.push_back(std::move(*found));
  return findings;
}

}  // namespace nigh::cli
