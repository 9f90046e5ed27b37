// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events that a run must have seen, each at least once, so that the simulation tests something.

#include <array>
#include <cstddef>
#include <cstdint>

namespace simulation {

enum class Seen : std::uint8_t {
  region_on_lease,        // entered without a message
  region_granted,         // after a message
  region_unplaced,        //
  region_refused,         //
  region_no_answer,       //
  region_alone,           // no coordinator was there
  region_overdue,         // its cpus were somebody else's before it ended
  region_shared,          // after a lost connection, on cpus that were another program's, too
  waited_for_ever,        // a request without a limit was granted after it had waited
  asked_back,             // a program found at the end of its region that its lease was asked for
  taken_idle,             // a lease went back while no region used it
  lease_paused,           //
  claimed,                //
  late_grant_returned,    // to a request that had been given up
  connection_cut,         // a program closed the descriptor behind the client's back
  buffer_full,            //
  connection_refused,     //
  connection_reset,       //
  program_exited,         //
  program_killed,         //
  program_stopped,        //
  program_forked,         //
  server_killed,          //
  server_ended,           //
  server_stopped,         //
  no_descriptors,         //
  no_memory,              //
  malformed,              //
  cut_message,            // that a liar sent in two pieces
  forged_release,         //
  forged_page,            // a liar wrote anything into the page that it shares
  quota_changed,          //
  cpuset_changed,         //
  external_load_changed,  //
  siege,                  // one user took all that it may have
  settled,                // all that a program holds was compared with the core
  count
};

inline constexpr std::array<char const*, static_cast<std::size_t>(Seen::count)> seen_names{
    "regions on a lease that was kept",
    "regions granted cpus by message",
    "regions unplaced",
    "regions refused",
    "regions without an answer in time",
    "regions without a coordinator",
    "regions whose lease ended as overdue",
    "regions that shared cpus after a cut",
    "requests without a limit that waited",
    "leases asked back in a region",
    "leases taken back between regions",
    "leases paused",
    "leases claimed after a restart",
    "grants that came too late, returned",
    "connections cut by their program",
    "full buffers",
    "connections refused",
    "connections reset",
    "programs that ended",
    "programs killed",
    "programs stopped",
    "programs forked",
    "servers killed",
    "servers ended",
    "servers stopped",
    "times without descriptors",
    "times without memory",
    "malformed messages",
    "messages cut into pieces",
    "forged returns",
    "forged pages",
    "quotas changed",
    "cpusets changed",
    "times that external load came or left",
    "hosts with a hostile user that takes all it may have",
    "comparisons with the core when settled",
};

using Counts = std::array<std::uint64_t, static_cast<std::size_t>(Seen::count)>;

}  // namespace simulation
