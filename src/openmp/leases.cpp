// SPDX-License-Identifier: Apache-2.0
// Leases from nighd, at the socket that NIGH_SOCKET names; without one there is no coordinator.
// NIGH_OPENMP_KEEP=0 gives each back when its region ends, to measure what messages take.

#include "openmp/leases.hpp"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <new>
#include <optional>

#include "coordinator/client/master.hpp"

namespace nigh::openmp {

class Leases {
 public:
  explicit Leases(coordinator::Program& program) noexcept : program_(program) {
    master_.emplace(program);
  }

  Lease enter(coordinator::RegionId region, coordinator::Demand demand) noexcept {
    auto const team = master_->enter(region, demand);
    last_version_ = first_version_ + team.version;
    return {team.cpus, team.size, last_version_};
  }
  void leave(std::uint64_t duration_ns, bool keeps) noexcept {
    master_->leave(duration_ns);
    if (keeps) return;
    first_version_ = last_version_;
    master_.emplace(program_);
  }

 private:
  coordinator::Program& program_;
  std::optional<coordinator::Master> master_;
  std::uint32_t first_version_ = 0, last_version_ = 0;
};

namespace {

// Never destroyed: other threads may be in regions when the process ends.
alignas(
    coordinator::Program) constinit unsigned char room_for_program[sizeof(coordinator::Program)]{};
constinit coordinator::Program* program = nullptr;
constinit bool keeps = true;
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Once; that there was no coordinator then, the program finds out again by itself.
coordinator::Program& joined(coordinator::CpuSet const& allowed) {
  pthread_mutex_lock(&lock);
  if (program == nullptr) {
    char const* const keep = getenv("NIGH_OPENMP_KEEP");
    keeps = keep == nullptr || strcmp(keep, "0") != 0;
    program = new (room_for_program) coordinator::Program;
    program->join({.socket = getenv("NIGH_SOCKET"),
                   .name = program_invocation_short_name,
                   .allowed = allowed});
  }
  pthread_mutex_unlock(&lock);
  return *program;
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
  return leases.enter(region, demand);
}

void leave(Leases& leases, std::uint64_t duration_ns) noexcept { leases.leave(duration_ns, keeps); }

void drop_all() noexcept {
  if (program != nullptr) program->drop();
}

}  // namespace nigh::openmp
