// SPDX-License-Identifier: Apache-2.0
#pragma once
// The shim's one connection to nighd, made when it is first needed; each thread that begins
// outermost regions has a LeaseClient on it. tests/openmp/scripted_leases.cpp puts a script in
// place of connection.cpp and of LeaseClient itself.

#include <cstdint>

#include "coordinator/client/granted_team.hpp"
#include "coordinator/client/lease_client.hpp"
#include "coordinator/protocol/message.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

using coordinator::GrantedTeam;
using coordinator::LeaseClient;

NIGH_HIDDEN LeaseClient* new_lease_client(coordinator::CpuSet const& allowed) noexcept;  // or null
NIGH_HIDDEN void end(LeaseClient*) noexcept;

// How many programs the coordinator serves; a hint.
NIGH_HIDDEN std::uint32_t programs_served() noexcept;
// The same, for a thread that does not otherwise hear of the coordinator's end; 0 after that. A
// signal handler may ask.
NIGH_HIDDEN std::uint32_t programs_served_now() noexcept;

// Joins without a region: the program is now one of those that the coordinator serves.
NIGH_HIDDEN void join_coordinator(coordinator::CpuSet const& allowed) noexcept;

// The program may use other cpus from now on. Leases end with the connection, which is made anew.
NIGH_HIDDEN void renew_allowed(coordinator::CpuSet const& allowed) noexcept;

// The program closes the descriptors from `first` to `last`, or puts others there: a connection to
// the coordinator among them is given up first. True: end_closing() follows.
NIGH_HIDDEN bool begin_closing(unsigned first, unsigned last) noexcept;
NIGH_HIDDEN void end_closing() noexcept;

// In the child of a fork: the connection is the parent's. The child joins when it asks for leases.
NIGH_HIDDEN void drop_connection() noexcept;

}  // namespace nigh::openmp
