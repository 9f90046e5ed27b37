// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread of a rank that others can go on without. It says regularly that the rank is there,
// whatever its other threads do, and hears at once when a process of the same host ends: launchers
// pass that on now and then more than a second late (docs/cluster-faults.md).

#include <cstdint>
#include <functional>
#include <memory>
#include <nigh/result.hpp>
#include <optional>
#include <span>
#include <vector>

#include "base/atomic.hpp"
#include "platform/bell.hpp"
#include "platform/event_set.hpp"
#include "platform/thread.hpp"

namespace nigh::cluster {

// The process of another rank, by its number in this process's namespace.
struct RankProcess {
  int rank = 0;
  int pid = 0;
};

class Beats {
 public:
  struct Calls {
    std::function<void()> beat;          // each time that long has passed, and at once
    std::function<void(int)> has_ended;  // that rank's process: once
  };

  // The calls are made on its thread. every_us 0: no beats. Nothing is heard of processes that
  // cannot be watched: on Linux before 5.3, and where they are gone already. An error: the system
  // refuses a thread or a descriptor.
  static result<std::unique_ptr<Beats>> start(std::int64_t every_us, Calls calls,
                                              std::span<RankProcess const> processes);
  ~Beats();
  Beats(Beats&&) = delete;

 private:
  struct Watched {
    int rank;
    int descriptor;  // pidfd_open(2)
  };

  Beats(std::int64_t every_us, Calls calls, platform::EventSet events)
      : every_us_(every_us), calls_(std::move(calls)), events_(std::move(events)) {}
  result<void> watch(std::span<RankProcess const> processes);
  void run();

  std::int64_t const every_us_;
  Calls const calls_;
  platform::EventSet events_;
  platform::Bell bell_;
  std::vector<Watched> watched_;
  sync::atomic<bool> stops_{false};
  std::optional<platform::Thread> thread_;
};

}  // namespace nigh::cluster
