// SPDX-License-Identifier: Apache-2.0
#pragma once
// The shim's knowledge of each thread, and its cpus.
//
//   thread of the program        begins outermost regions, with leases of its own; regions begun
//                                inside one are nested
//   worker of an OpenMP runtime  its regions are nested: it runs the program's code only as part of
//                                a region (tasks at the closing barrier included)

#include <sched.h>

#include <array>
#include <cstdint>

#include "openmp/connection.hpp"
#include "openmp/regions.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/team_size.hpp"
#include "platform/own_stack.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

struct Ballast;
struct NestedPlan;
struct Thread;
struct PlanOfThread;

// Where a thread is pinned: on one cpu, on all of a lease, or nowhere (0).
using Pinning = std::uint64_t;
inline constexpr Pinning unpinned = 0;

// The threads of a region. Each of them reads it at every region, from its leader's cache, so it is
// small.
struct Team {
  std::uint16_t const* cpus = nullptr;
  Pinning all = unpinned;  // all of its cpus together
  Thread const* leader = nullptr;
  std::uint32_t size = 0;  // in cpus; 0: no lease
  bool is_shared = false;  // more threads than cpus: each may use all of them
  bool has_plan = false;   // its threads begin regions of their own, as the leader's plan says
  std::uint8_t level = 0;  // 0: outermost; not beyond 2
};
static_assert(sizeof(Team) == 32);

// The size of a team follows from these, and from the object that the region is in.
struct TeamSettings {
  Clause clause{};
  int max_threads = 0;  // of the runtime, for the calling thread
  int thread_limit = 0;
  int dynamic = 0;
  bool fixes_teams = false;   // omp_set_dynamic(0)
  bool names_number = false;  // omp_set_num_threads()

  bool operator==(TeamSettings const&) const = default;
};

// A thread's last decision about a region on a kept lease. The region's next run is the same, as
// long as all is unchanged that the decision followed from.
struct Decision {
  Region region{};  // no code: about none
  TeamSettings settings{};
  std::uint32_t allowed = 0;  // cpus, for the process
  LeaseClient::Entered lease{};
  // what followed
  Team team{};
  std::uint32_t asked = 0;    // threads that the program asked for
  std::uint32_t given = 0;    // that it gets
  std::uint32_t threads = 0;  // for the runtime, in place of the clause
};

// By the region's code. A region takes the place of another one here.
class Decisions {
 public:
  Decision& about(void const* code) noexcept {
    auto const bits = reinterpret_cast<std::uintptr_t>(code);
    return decisions_[(bits >> 4U ^ bits >> 10U) % decisions_.size()];
  }

 private:
  std::array<Decision, 64> decisions_{};
};

struct Thread {
  LeaseClient* lease_client = nullptr;
  Decisions* decisions = nullptr;  // there, if that is
  Team const* team = nullptr;      // the region it is in, innermost; valid only inside
  Pinning pinning = unpinned;
  std::uint32_t number = 0;          // of a thread with leases, from 1
  std::uint32_t untimed = 0;         // of its short regions: so many until one is timed
  std::uint64_t last_ns = 0;         // the last timed one
  coordinator::RegionId region = 0;  // the outermost region that it has begun and not ended
  NestedPlan const* plan = nullptr;  // how that region's threads begin others; null: as they say
  PlanOfThread* plans = nullptr;     // of regions that it has begun
  Team const* forming = nullptr;     // inside another region: the team of a region that it begins
  std::uint32_t formed = 0;          // threads of that
  std::uint32_t member = 0;          // its number in a region with a nested plan
  Clause clause{};                   // announced to libomp for its next region
  Ballast* ballast = nullptr;        // whose first thread it is
  Runtime const* calmed = nullptr;   // whose blocktime for this thread is 0, instead of its own
  int blocktime = 0;
  std::uint32_t preemptions_per_s = 0;  // 0: seldom
  std::uint64_t preemptions = 0;        // until then
  std::uint64_t watched_ns = 0;         // when these were read
  bool is_inside = false;               // a region that it began
  bool is_worker = false;
  // A function of the runtime whose region's body nigh calls here. A call at the body's end is a
  // jump, and so its caller is nigh.
  void const* body_of = nullptr;
  platform::Stack stack{};        // looked up at its first region
  bool is_others_child = false;   // a child whose parent's thread was not the main one
  bool is_forked_inside = false;  // the child of a fork, inside a region of its parent's
  bool has_ended = false;         // but other keys' destructors may follow
  bool is_left_alone = false;     // the program or a user has bound it
  bool nests_serially = false;    // inside a team of one that would have been larger
  bool fixes_teams = false;       // TeamSettings
  bool names_number = false;
  bool has_exchanged = false;  // the lease of the region that it has begun (task_room.hpp)
  // Threads of libgomp's that it leads (recycler.cpp), of each runtime.
  struct Pool {
    std::uint32_t threads = 0;     // with itself; 0: not known to have any
    std::uint32_t kept_below = 0;  // those that wait for work have smaller numbers
  };
  std::array<Pool, most_runtimes> pools{};
  std::uint64_t pool_leader = 0;  // from 1, each number once
  cpu_set_t cpus{};               // while it is pinned: there
  std::uint64_t looked_ns = 0;    // at its cpus
  std::uint32_t heard = 0;        // calls of the program that set cpus of other threads
};
NIGH_HIDDEN extern constinit thread_local Thread this_thread;

// All of these are for the calling thread.

// Before its cpus are set. False: a user or the program has set others, and it is left alone from
// now on.
NIGH_HIDDEN bool may_place(Thread& me) noexcept;
// Sets them, if that may be.
NIGH_HIDDEN void place(Thread& me, Pinning to, cpu_set_t const&) noexcept;
// Where it was before the shim pinned it.
NIGH_HIDDEN void unpin(Thread& me) noexcept;

// Called now and then by a thread that begins regions: whether a user has set its cpus, or its
// cpuset has changed. A thread that stays on its cpu would not notice.
NIGH_HIDDEN void watch_cpus(Thread& me, std::uint64_t now_ns) noexcept;

// In the child of a fork.
NIGH_HIDDEN void drop_calls_for_others() noexcept;

}  // namespace nigh::openmp
