// SPDX-License-Identifier: Apache-2.0
#include "openmp/task_room.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "base/clock.hpp"
#include "platform/loaded_objects.hpp"
#include "policy/cpus/lease_patience.hpp"

namespace nigh::openmp {

constinit TaskHooks const* task_hooks = nullptr;

namespace {

__attribute__((constructor)) void look_for_hooks() {
  if (!platform::may_define(NIGH_TASK_HOOKS_NAME, nullptr)) return;
  auto const* const found =
      static_cast<TaskHooks const*>(dlsym(RTLD_DEFAULT, NIGH_TASK_HOOKS_NAME));
  if (found != nullptr && found->version == TaskHooks::current) task_hooks = found;
}

}  // namespace

bool LeaseOfTeam::is_outdated() noexcept {
  Thread const& me = this_thread;
  if (me.lease_client == nullptr || me.is_forked_inside) return false;  // it is the parent's
  if (me.lease_client->holds()) return me.lease_client->is_asked_for();
  auto const now = base::now_us();
  if (asked_us_ == 0) asked_us_ = now;
  return now - asked_us_ >= policy::ask_again_us;
}

std::uint32_t LeaseOfTeam::exchange(std::uint32_t threads) noexcept {
  Thread& me = this_thread;
  asked_us_ = base::now_us();
  bool const had_cpus = me.lease_client->holds();
  auto const most = std::min<std::uint32_t>(threads, coordinator::max_cpus);
  // Nobody waits in the middle of a region: what is not free now may be so the next time.
  auto const granted =
      me.lease_client->exchange(me.region, {most, most}, policy::LeasePatience::look);
  if (!had_cpus && granted.size == 0) return 0;
  Team& next = now_ == after_ ? after_[1] : after_[0];
  next = Team{};
  next.leader = &me;
  if (!granted.floats) give_cpus(next, me, granted, threads);
  now_ = me.team = &next;
  me.has_exchanged = true;
  return cpus_of(next);
}

void LeaseOfTeam::settle(std::uint32_t number) noexcept {
  this_thread.team = now_;
  pin(this_thread, *now_, number);
}

void LeaseOfTeam::tell(std::uint64_t made, std::uint64_t stolen) noexcept {
  Thread const& me = this_thread;
  if (me.lease_client != nullptr && !me.is_forked_inside) me.lease_client->tell_tasks(made, stolen);
}

}  // namespace nigh::openmp
