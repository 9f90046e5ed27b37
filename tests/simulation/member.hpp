// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread of a well-behaved program that begins regions, as the invariants see it.

#include <array>
#include <memory>

#include "coordinator/client/lease_client.hpp"
#include "simulation/kernel.hpp"

namespace simulation {

inline constexpr std::size_t most_cpus = 32;

struct Member {
  Process* process = nullptr;
  nigh::coordinator::ClientConnection* program = nullptr;
  nigh::coordinator::LeaseClient* client = nullptr;
  // Of the lease it had last; all its cpus are known where every region says what it can use.
  std::array<int, most_cpus> cpus{};
  int size = 0;
  std::uint32_t version = 0;
  std::shared_ptr<Link> link;  // over which it came
  bool knows_all = false;
  bool is_inside = false;   // a region
  Time since = 0;           // when its lease had not been asked for yet
  bool is_calling = false;  // the client
};

}  // namespace simulation
