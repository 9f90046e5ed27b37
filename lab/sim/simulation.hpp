// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events and fluids on one clock. Actors are state machines of whoever runs the simulation:
//
//   void happen(Event const&)    what it posted has come
//   void ended(FlowId)           a flow has moved all of its volume, and is gone

#include <cstdint>
#include <stdexcept>
#include <string>

#include "sim/event_queue.hpp"
#include "sim/fluid.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

// Threads leave a barrier in no particular order, within so long; assumed.
inline constexpr Time apart_ns = 1000;

// Something is left to be done, and nothing can happen any more. Tells every actor's state.
struct Stuck : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Simulation {
  Simulation() = default;
  explicit Simulation(LostStep lost) : lost_(lost) {}

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
      if (steps_++ != lost_.number) actors.ended(ending->flow);
      return true;
    }
    auto const event = events.pop();
    if (steps_++ != lost_.number) actors.happen(event);
    return true;
  }

 private:
  LostStep lost_;
  std::uint64_t steps_ = 0;
};

// Steps until done(). states() is asked for when that cannot be: a line for each actor, or a few.
template <class Actors, class Done, class States>
void run_to_end(Simulation& simulation, Actors& actors, Done done, States states) {
  while (!done())
    if (!simulation.step(actors))
      throw Stuck("sim: nothing can go on at " + std::to_string(seconds(simulation.now()) * 1e6) +
                  " us: " + states());
}

}  // namespace nigh::sim
