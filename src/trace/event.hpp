// SPDX-License-Identifier: Apache-2.0
#pragma once
// The events that a worker records about itself when a recorder asks for them (recorder.hpp).

#include <cstdint>
#include <nigh/topology.hpp>

namespace nigh::trace {

enum class EventKind : std::uint8_t {
  task_begin,     // of a task that came from elsewhere: stolen, queued, or handed in from outside
  task_end,       //
  steal,          // it took tasks from another worker
  failed_search,  // it looked for tasks in vain, and searches until its next event
  resume,         // it goes on with its own tasks, without a steal: what it waited for is done
  serialized,     // it ran spawned tasks at once, since its stack was full or the cutoff reached
  park,           // it fell asleep
  unpark,         // it was woken
  queue_length,   // tasks that wait in its stack
  low_water,      // the fewest that its stack held at a fork since the last such event: its work
                  // since then began with the task above these
  all_done,       // it found that all tasks of the runtime were done
};

struct Event {
  std::int64_t time_ns = 0;  // of the steady clock
  EventKind kind = EventKind::task_begin;
  level where = level::cpu;  // steal: how far away the victim was; cluster: another rank
  std::uint16_t victim = 0;  // steal: its track, or the tasks' rank; task_begin: 1 + the domain it was put near, or 0
  std::uint32_t count = 0;   // steal: tasks taken; failed_search, serialized: how many in a row;
                             // queue_length, low_water: tasks; task_begin: KiB it will touch

  bool operator==(Event const&) const = default;
};
static_assert(sizeof(Event) == 16);

}  // namespace nigh::trace
