// SPDX-License-Identifier: Apache-2.0
#include "openmp/stay.hpp"

#include <time.h>

#include "openmp/process.hpp"

namespace nigh::openmp {
namespace {

std::uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

Limits limits(Runtime const& runtime, Clause clause) {
  auto const number = [](int n) { return n < 1 ? 1U : static_cast<std::uint32_t>(n); };
  return {clause, number(runtime.max_threads()), number(runtime.thread_limit()),
          clause.threads != 0 && runtime.dynamic() != 0};
}

// A thread that runs elsewhere than the process may was bound by the program, which knows better.
bool is_bound(Thread const& me) {
  cpu_set_t now;
  // The answer is the kernel's, for we did not place it.
  return me.place == anywhere && sched_getaffinity(0, sizeof now, &now) == 0 &&
         !CPU_EQUAL(&now, &own_cpus());
}

}  // namespace

Stay::Stay(Region const& region, Clause clause) noexcept
    : me_(this_thread), threads_(clause.threads) {
  if (!process().acts) return;
  if (me_.is_inside || me_.is_worker)
    begin_nested();
  else if (clause.threads != 1)  // one thread, now and here: no region
    begin_outermost(region, clause);
}

// Threads of a nested team may use all cpus of the outermost one. Its master stays where it is.
void Stay::begin_nested() noexcept {
  if (me_.nests_serially && threads_ == 0) threads_ = 1;
  if (me_.team != nullptr) team_ = *me_.team;
  team_.is_shared = true;
  team_.master = &me_;
}

void Stay::begin_outermost(Region const& region, Clause clause) noexcept {
  is_outermost_ = true;
  team_.master = &me_;
  if (me_.leases == nullptr && !me_.is_left_alone)
    me_.is_left_alone = is_bound(me_) || !give_leases(me_);
  if (!me_.is_left_alone) lease(region, clause);
  me_.team = &team_;
  me_.is_inside = true;
}

void Stay::lease(Region const& region, Clause clause) noexcept {
  Wish const w = wish(limits(*region.runtime, clause), process().adjust);
  if (w.threads == 1) return;
  has_lease_ = true;
  team_.lease = enter(*me_.leases, region.id, demand(w, process().cpus));
  if (process().tells) count_region(team_.lease);
  if (team_.lease.size == 0) return;
  auto const threads = team_size(w, team_.lease.size);
  team_.all = Place{1} << 63U | Place{me_.number} << 43U | Place{team_.lease.size} << 32U |
              team_.lease.version;
  team_.is_shared = threads > team_.lease.size;
  if (!w.is_exact) threads_ = threads;
  me_.nests_serially = threads == 1 && region.runtime->max_active_levels() <= 1;
  began_ns_ = now_ns();
}

Stay::~Stay() {
  if (!is_outermost_) return;
  me_.is_inside = false;
  me_.team = nullptr;
  me_.nests_serially = false;
  if (!has_lease_ || me_.leases == nullptr) return;
  leave(*me_.leases, began_ns_ == 0 ? 0 : now_ns() - began_ns_);
}

}  // namespace nigh::openmp
