// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events and fluids on one clock. Actors are state machines of whoever runs the simulation:
//
//   void happen(Event const&)    what it posted has come
//   void ended(FlowId)           a flow has moved all of its volume, and is gone

#include <stdexcept>

#include "sim/event_queue.hpp"
#include "sim/fluid.hpp"

namespace nigh::sim {

struct Simulation {
  EventQueue events;
  FluidNetwork network;

  Time now() const noexcept { return events.now(); }

  // One event or ending; false when there is none. Of what happens at one time, endings come first.
  // Throws std::overflow_error when that is not to be waited for.
  template <class Actors>
  bool step(Actors& actors) {
    auto const ending = network.next_ending(now());
    bool const ends = ending && (events.empty() || ending->at <= events.next().at);
    if (!ends && events.empty()) return false;
    if ((ends ? ending->at : events.next().at) >= forever)
      throw std::overflow_error("sim: what is simulated takes more than 126 years");
    if (ends) {
      events.advance(ending->at);
      network.stop(ending->at, ending->flow);
      actors.ended(ending->flow);
      return true;
    }
    actors.happen(events.pop());
    return true;
  }
};

}  // namespace nigh::sim
