// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whoever hands out the host's cpus to programs, as a runtime sees it: it holds a lease of some,
// and is asked for it back.
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
    none,   // what is held, if anything, holds
    asked,  // the lease is wanted back, has been taken, or another one is to be had
    gone,   // there is nobody any more who hands out cpus
  };
  virtual News news() = 0;
  // Waits until there may be news, or somebody rings, or for about so long.
  virtual void wait(std::optional<std::int64_t> timeout_us) = 0;
  // Gives back what it holds, and waits for other cpus, for a moment. Nothing: nobody hands out
  // any, or others hold them.
  virtual std::optional<std::vector<int>> obtain() = 0;
  virtual void give_back() = 0;

  // ---- by any thread, one at a time, never while obtain() or give_back() is under way

  // The lease held is in no use until resume(): whoever hands out cpus may take it, and nothing is
  // said. Either is false when it is to be given back, or is no more.
  virtual bool pause() noexcept = 0;
  virtual bool resume() noexcept = 0;

  // ---- by any thread

  virtual void ring() noexcept = 0;
  virtual void close() noexcept = 0;  // nobody is to wait here any more, nor will be
};

// For a runtime with workers on these cpus. Null: nobody hands out cpus of this machine, or to this
// process.
using CpuLeaseMaker = std::unique_ptr<CpuLease> (*)(topology const& machine,
                                                    std::span<int const> cpus);

// The layer that knows sets it, before main() begins; none: all runtimes have all their cpus.
extern CpuLeaseMaker make_cpu_lease;

}  // namespace nigh::tasks
