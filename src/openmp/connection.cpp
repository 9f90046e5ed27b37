// SPDX-License-Identifier: Apache-2.0
// NIGH_SOCKET names nighd's socket; without it, or with NIGH_COORDINATOR=off, there is no
// coordinator.

#include "openmp/connection.hpp"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <new>

#include "base/published.hpp"
#include "coordinator/client/job_rank.hpp"
#include "platform/binary_identity.hpp"
#include "platform/uncancelled.hpp"

namespace nigh::openmp {
namespace {

using coordinator::ClientConnection;

// Never destroyed: other threads may be in regions when the process ends.
alignas(ClientConnection) constinit unsigned char room[sizeof(ClientConnection)]{};
constinit base::Published<ClientConnection> connection;
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit bool has_joined = false;
constinit bool is_forked = false;

char const* socket_name() {
  char const* const said = getenv("NIGH_COORDINATOR");
  return said != nullptr && strcmp(said, "off") == 0 ? nullptr : getenv("NIGH_SOCKET");
}

// A child of a rank is no rank, though it has its parent's variables.
coordinator::JobRank own_rank() {
  return is_forked ? coordinator::JobRank{}
                   : coordinator::rank_in_job(getenv, static_cast<std::uint64_t>(getppid()));
}

// Once. Without a coordinator then, the connection tries again by itself. own_identity() reads a
// file, where a thread may be cancelled.
ClientConnection& joined(coordinator::CpuSet const& allowed) {
  platform::Uncancelled const whole;
  pthread_mutex_lock(&lock);
  auto* there = connection.get();
  if (there == nullptr) {
    there = new (room) ClientConnection;
    connection.set(there);
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

LeaseClient* new_lease_client(coordinator::CpuSet const& allowed) noexcept {
  auto& there = joined(allowed);
  // libgomp allocates the words that its threads wait at after this, and whether these words share
  // a cache line depends on the size: after 64 n + 16 bytes a region of two threads took 0.71 us,
  // after 64 n bytes 0.86 us (glibc 2.36, g++ 12).
  constexpr std::size_t bytes = (sizeof(LeaseClient) + 47) / 64 * 64 + 16;
  void* const memory = malloc(bytes);
  return memory == nullptr ? nullptr : new (memory) LeaseClient(there);
}

void end(LeaseClient* client) noexcept {
  client->~LeaseClient();
  free(client);
}

std::uint32_t programs_served() noexcept {
  auto* const there = connection.get();
  return there == nullptr ? 0 : there->programs();
}

std::uint32_t programs_served_now() noexcept {
  auto const programs = programs_served();
  if (programs == 0) return 0;
  platform::Uncancelled const whole;  // a region may begin here
  pollfd socket{connection.get()->socket(), POLLRDHUP, 0};
  return poll(&socket, 1, 0) > 0 && (socket.revents & POLLHUP) != 0 ? 0 : programs;
}

void join_coordinator(coordinator::CpuSet const& allowed) noexcept { joined(allowed); }

void renew_allowed(coordinator::CpuSet const& allowed) noexcept {
  pthread_mutex_lock(&lock);
  bool const tells = has_joined;
  pthread_mutex_unlock(&lock);
  if (tells) connection.get()->renew_allowed(allowed);
}

bool begin_closing(unsigned first, unsigned last) noexcept {
  auto* const there = connection.get();
  return there != nullptr && there->begin_closing(first, last);
}

void end_closing() noexcept { connection.get()->end_closing(); }

void drop_connection() noexcept {
  lock = PTHREAD_MUTEX_INITIALIZER;
  has_joined = false;
  is_forked = true;
  if (auto* const there = connection.get()) there->drop();
}

}  // namespace nigh::openmp
