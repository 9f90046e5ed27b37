// SPDX-License-Identifier: Apache-2.0
#pragma once
// A recorded run done again on a modelled machine: its pieces by other workers, with other
// policies.
//
// seekers.hpp says which worker takes what, and when it looks how far.
//
// A piece takes as long as its processor part did, and moves its bytes at what memory gives there.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/steal_order.hpp"
#include "sim/machine.hpp"
#include "sim/replay/recorded.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

enum class Queues : std::uint8_t {
  near,    // one for each domain; others take from it when they find nothing else
  strict,  // one for each domain, and nobody else takes from it
  one,     // one for all, wherever data lies: of a runtime without places, which nigh is not
};

struct ReplayPolicy {
  std::string name;
  Queues queues = Queues::near;
  policy::VictimChoice victims = policy::VictimChoice::hierarchical;
  policy::ChunkChoice chunks = policy::ChunkChoice::hierarchical;
};

// The first one is what nigh does by itself.
std::vector<ReplayPolicy> const& replay_policies();

struct ReplayOutcome {
  double seconds = 0;
  double idle_share = 0;    // of all workers' time
  double remote_share = 0;  // of bytes, moved from another domain
  std::uint64_t steals = 0;
  std::uint64_t taken_abroad = 0;  // queued tasks
};

struct ReplaySetting {
  Machine const& machine;   // here
  Machine const& recorded;  // where the run was recorded
  int workers = 0;          // 0: one for each core
  LostStep lost{};
};

// Pieces that were put near domains: phase by phase in equal parts, in their order, over those of
// this machine.
ReplayOutcome replay(RecordedRun const& run, ReplaySetting const& setting,
                     ReplayPolicy const& policy, std::uint64_t seed);

}  // namespace nigh::sim
