// SPDX-License-Identifier: Apache-2.0
// Leases from nighd, at the socket that NIGH_SOCKET names; without one, or with
// NIGH_COORDINATOR=off, there is no coordinator.

#include "openmp/leases.hpp"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <new>

#include "base/atomic.hpp"
#include "coordinator/client/job_rank.hpp"
#include "coordinator/client/lease_client.hpp"
#include "platform/binary_identity.hpp"

namespace nigh::openmp {

class Leases {
 public:
  explicit Leases(coordinator::ClientConnection& program) noexcept : master(program) {}
  coordinator::LeaseClient master;
};

namespace {

// Never destroyed: other threads may be in regions when the process ends.
alignas(coordinator::ClientConnection) constinit unsigned char room_for_program[sizeof(
    coordinator::ClientConnection)]{};
// (A) Who sees that there is one sees all of it.
constinit sync::atomic<coordinator::ClientConnection*> program{nullptr};
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit bool has_joined = false;
constinit bool is_forked = false;

char const* socket_name() {
  char const* const said = getenv("NIGH_COORDINATOR");
  return said != nullptr && strcmp(said, "off") == 0 ? nullptr : getenv("NIGH_SOCKET");
}

// A child of a rank is none, though it has its parent's variables.
coordinator::JobRank own_rank() {
  return is_forked ? coordinator::JobRank{}
                   : coordinator::rank_in_job(getenv, static_cast<std::uint64_t>(getppid()));
}

// Once; that there was no coordinator then, the program finds out again by itself.
coordinator::ClientConnection& joined(coordinator::CpuSet const& allowed) {
  pthread_mutex_lock(&lock);
  auto* there = program.load(sync::relaxed);
  if (there == nullptr) {
    there = new (room_for_program) coordinator::ClientConnection;
    program.store(there, sync::release);  // (A)
  }
  if (!has_joined) {
    has_joined = true;
    there->join({.socket = socket_name(),
                 .name = program_invocation_short_name,
                 .allowed = allowed,
                 .rank = own_rank(),
                 .binary = platform::own_identity(),
                 .waits_briefly = true});
  }
  pthread_mutex_unlock(&lock);
  return *there;
}

}  // namespace

Leases* new_leases(coordinator::CpuSet const& allowed) noexcept {
  auto& joined_program = joined(allowed);
  void* const room = malloc(sizeof(Leases));
  return room == nullptr ? nullptr : new (room) Leases(joined_program);
}

void end(Leases* leases) noexcept {
  leases->~Leases();
  free(leases);
}

Lease enter(Leases& leases, coordinator::RegionId region, coordinator::Demand demand) noexcept {
  auto const team = leases.master.enter(region, demand);
  return {team.cpus, team.size, team.version, team.is_to_be_timed, team.floats, team.fallback};
}

void leave(Leases& leases, std::uint64_t duration_ns) noexcept { leases.master.leave(duration_ns); }

std::uint32_t programs_served() noexcept {
  auto* const there = program.load(sync::acquire);  // (A)
  return there == nullptr ? 0 : there->programs();
}

std::uint32_t programs_served_now() noexcept {
  auto const programs = programs_served();
  if (programs == 0) return 0;
  pollfd socket{program.load(sync::relaxed)->socket(), POLLRDHUP, 0};
  return poll(&socket, 1, 0) > 0 && (socket.revents & POLLHUP) != 0 ? 0 : programs;
}

void join_coordinator(coordinator::CpuSet const& allowed) noexcept { joined(allowed); }

bool begin_closing(unsigned first, unsigned last) noexcept {
  auto* const there = program.load(sync::acquire);  // (A)
  return there != nullptr && there->begin_closing(first, last);
}

void end_closing() noexcept { program.load(sync::relaxed)->end_closing(); }

void drop_all() noexcept {
  lock = PTHREAD_MUTEX_INITIALIZER;
  has_joined = false;
  is_forked = true;
  if (auto* const there = program.load(sync::relaxed)) there->drop();
}

}  // namespace nigh::openmp
