// SPDX-License-Identifier: Apache-2.0
#pragma once
// The events that the coordinator takes, and the messages that it sends.

#include <cstdint>
#include <variant>
#include <vector>

#include "coordinator/core/quotas.hpp"
#include "coordinator/core/regions.hpp"
#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

using Time = std::int64_t;  // microseconds since any moment; never goes back

// An event.
struct Received {
  Connection from = 0;
  ProgramMessage message;
  std::uint32_t user = 0;     // the program's user; counts when it registers
  std::uint64_t started = 0;  // when its process began (Status::started); for people, as above
};
struct Lost {  // the program died, left, or its connection broke
  Connection connection = 0;
};
struct Tick {};                      // time has passed
struct Load {                        // external load
  CpuSet busy;                       // cpus that it keeps busy: they are given last
  bool is_unseen_elsewhere = false;  // it uses leased cpus, too, unknown which
};
struct Energy {  // the host's energy use since the last event of this kind
  struct Package {
    CpuSet cpus;
    std::uint64_t used_uj = 0;
    bool operator==(Package const&) const = default;
  };
  std::vector<Package> packages;
};
struct Known {  // about a program that has come: its lessons from earlier runs
  Connection connection = 0;
  std::vector<KnownRegion> regions;
};
struct Bound {  // by quotas of cpu time, from now on: all of them
  Connection connection = 0;
  std::vector<QuotaBound> bounds;
};
struct Allowed {  // by its cpuset, from now on; none: the system does not say
  Connection connection = 0;
  CpuSet cpus;
};
using Event = std::variant<Received, Lost, Tick, Load, Energy, Known, Bound, Allowed>;

struct Send {
  Connection to = 0;
  CoordinatorMessage message;
};

}  // namespace nigh::coordinator
