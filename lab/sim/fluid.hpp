// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work as fluids: flows share resources (memory controllers, links, cores) max-min fairly.
//
//   flow      volume to be moved, at a rate of at most its cap
//   use       of a resource: for each unit of the flow, so much of the resource's capacity
//
// Max-min fair: no flow can be faster without a slower or equally slow one becoming slower still.
// Rates come from progressive filling: all flows rise together until a resource is full or a cap is
// reached; those it concerns stop, the others rise on.
//
// When flows begin or end, rates change only for those that are connected with them by resources
// they share; only these are computed anew, once for all changes of one moment.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sim/time.hpp"

namespace nigh::sim {

using ResourceId = std::uint32_t;
using FlowId = std::uint64_t;  // no id is used again

struct Resource {
  double capacity = 0;  // a second
  // The cost of flows that crowd it: capacity / (1 + crowding x (flows - uncrowded)).
  double crowding = 0;
  int uncrowded = 0;

  double capacity_for(int flows) const noexcept {
    return flows > uncrowded ? capacity / (1 + crowding * (flows - uncrowded)) : capacity;
  }
};

struct Use {
  ResourceId resource = 0;
  double weight = 1;
};

inline constexpr double no_cap = std::numeric_limits<double>::infinity();

class FluidNetwork {
 public:
  ResourceId add(Resource resource);
  std::size_t resources() const noexcept { return resources_.size(); }

  // A resource is named once in `uses`, its weight is above 0; a flow uses something or has a cap.
  FlowId start(Time now, double volume, std::span<Use const> uses, double cap = no_cap);
  // Returns what is left of its volume.
  double stop(Time now, FlowId flow);

  struct Ending {
    Time at = 0;
    FlowId flow = 0;
  };
  // The first flow that ends if nothing changes before; of several the one that started first.
  std::optional<Ending> next_ending(Time now);

  double rate(Time now, FlowId flow);  // volume a second
  double left(Time now, FlowId flow);  // of its volume
  double used(Time now, ResourceId resource);
  Resource const& resource(ResourceId r) const noexcept { return resources_[r].what; }
  std::size_t flows() const noexcept { return running_; }

  // How often flows' rates were computed, for those who tune.
  std::uint64_t computed_rates() const noexcept { return computed_; }

 private:
  struct Flow {
    FlowId id = 0;  // 0: this slot is free
    double left = 0;
    double rate = 0;
    double cap = no_cap;
    Time since = 0;  // when `left` was true
    std::uint32_t version = 0;
    bool touched = false;
    bool rises = false;  // while rates are computed
    std::vector<Use> uses;
  };
  struct Shared {
    Resource what;
    std::vector<std::uint32_t> slots;  // of the flows that use it
    bool touched = false;
    double left = 0;         // while rates are computed
    double weights = 0;      // of those that still rise
    double all_weights = 0;  // when they were last summed up
    int rising = 0;          // how many of them still rise
  };
  struct Due {
    Time at = 0;
    FlowId flow = 0;
    std::uint32_t slot = 0, version = 0;
    bool after(Due const& o) const noexcept { return at != o.at ? at > o.at : flow > o.flow; }
  };

  std::uint32_t slot_of(FlowId flow) const noexcept {
    return static_cast<std::uint32_t>(flow & 0xffffffff);
  }
  Flow& checked(FlowId flow);
  void touch(std::uint32_t slot);
  void touch_shared(ResourceId r);
  void begin_change(Time now);
  void settle(Time asked);
  void collect_component();
  void fill();
  void settle_at(std::uint32_t slot, double level);
  double rising_weights(ResourceId r) const;
  void forget_past_endings();
  void note_ending(Time now, std::uint32_t slot);

  std::vector<Shared> resources_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Due> due_;                    // heap, the first to end at the front
  std::vector<std::uint32_t> touched_;      // slots to compute anew
  std::vector<ResourceId> touched_shared_;  // and resources
  std::vector<std::uint32_t> rising_;
  std::vector<std::uint32_t> stopped_;
  std::size_t running_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t computed_ = 0;
  Time changed_ = 0;  // when what is touched has been touched
};

}  // namespace nigh::sim
