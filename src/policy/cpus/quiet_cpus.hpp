// SPDX-License-Identifier: Apache-2.0
#pragma once
// Some free cpus are busy with external load: is a team better off on the quiet ones alone, or
// unbound on all of them?
//
// On the quiet ones alone, if they are as many as the region would get anyway: its maximum, or its
// part of the host. Beside external load, a bound team is as slow as its slowest thread, which has
// half a cpu; if the team is unbound, the system moves threads to cpus with time to spare.

#include <algorithm>

#include "policy/cpus/thread_count.hpp"

namespace nigh::policy {

// `attainable`: cpus that the region can hope for.
constexpr bool quiet_cpus_suffice(int quiet, ThreadDemand d, int attainable) noexcept {
  return quiet > 0 && quiet >= std::min(d.maximum, attainable);
}
static_assert(quiet_cpus_suffice(3, {8, 4}, 3) && quiet_cpus_suffice(3, {2, 1}, 8));
static_assert(!quiet_cpus_suffice(1, {2, 1}, 2) && !quiet_cpus_suffice(0, {1, 1}, 1));

}  // namespace nigh::policy
