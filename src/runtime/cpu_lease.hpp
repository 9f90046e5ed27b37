// SPDX-License-Identifier: Apache-2.0
#pragma once
// The coordinator of the host's cpus, as a runtime sees it: the runtime holds a lease of some cpus,
// and is asked to give it back.
//
// src/coordinator/arena has nighd do so; tests follow a script.

#include <cstdint>
#include <memory>
#include <nigh/topology.hpp>
#include <optional>
#include <span>
#include <vector>

namespace nigh::tasks {

class CpuLease {
 public:
  virtual ~CpuLease() = default;

  // ---- by one thread, the arena's

  enum class News : std::uint8_t {
    none,  // nothing changes
    asked,  // the lease is wanted back or has been taken, or another one can be had
    gone,  // there is no coordinator any more
  };
  virtual News news() = 0;
  // Waits until there may be news, or another thread rings, or for about this long.
  virtual void wait(std::optional<std::int64_t> timeout_us) = 0;
  // Gives back what it holds, and waits for other cpus, for a moment. Nothing: nobody hands out
  // cpus, or others hold them. The runtime then uses its cpus all the same, as without a
  // coordinator.
  virtual std::optional<std::vector<int>> obtain() = 0;
  virtual void give_back() = 0;

  // ---- by any thread, one at a time, never while obtain() or give_back() is under way

  // Between pause() and resume(), the lease is not in use, and the coordinator may take it without
  // a message. Either is false when the lease must be given back, or is gone.
  virtual bool pause() noexcept = 0;
  virtual bool resume() noexcept = 0;

  // ---- by any thread

  virtual void ring() noexcept = 0;
  virtual void close() noexcept = 0;  // nobody waits here any more, nor will
};

// For a runtime with workers on these cpus. Null: nobody hands out cpus of this machine, or to this
// process.
using CpuLeaseMaker = std::unique_ptr<CpuLease> (*)(topology const& machine,
                                                    std::span<int const> cpus);

// The layer that knows a coordinator sets it before main() begins; null: all runtimes have all
// their cpus.
extern CpuLeaseMaker make_cpu_lease;

}  // namespace nigh::tasks
