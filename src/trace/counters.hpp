// SPDX-License-Identifier: Apache-2.0
#pragma once
// The counts of a worker. One writer, any number of readers.

#include <array>
#include <cstdint>
#include <memory>
#include <nigh/topology.hpp>

#include "base/atomic.hpp"

namespace nigh::trace {

// One thread writes, so adding needs no read-modify-write. Readers may see the value late; it
// orders nothing, hence relaxed throughout.
class Counter {
 public:
  void add(std::uint64_t n) noexcept { value_.store(get() + n, sync::relaxed); }
  void reset() noexcept { value_.store(0, sync::relaxed); }
  std::uint64_t get() const noexcept { return value_.load(sync::relaxed); }

 private:
  sync::atomic<std::uint64_t> value_{0};
};

inline constexpr std::size_t level_count = static_cast<std::size_t>(level::cluster) + 1;

struct WorkerCounters {
  explicit WorkerCounters(std::size_t domains)
      : run_for_domain(std::make_unique<Counter[]>(domains)), domain_count(domains) {}

  // A task has run on a worker of domain `here`; it was spawned near `home` (-1: anywhere).
  void count(int here, int home, std::uint64_t bytes) noexcept {
    run.add(1);
    if (home < 0) return;
    run_for_domain[static_cast<std::size_t>(home)].add(1);
    (home == here ? local : remote).add(1);
    (home == here ? bytes_local : bytes_remote).add(bytes);
  }

  void reset() noexcept {
    for (Counter* c : {&run, &local, &remote, &bytes_local, &bytes_remote, &parked, &forked,
                       &serialized, &steals, &stolen, &failed_steals})
      c->reset();
    for (Counter& c : steals_at) c.reset();
    for (std::size_t d = 0; d < domain_count; ++d) run_for_domain[d].reset();
  }

  Counter run, local, remote, bytes_local, bytes_remote, parked;
  // For forked tasks; see nigh::worker_counters.
  Counter forked, serialized, steals, stolen, failed_steals;
  std::array<Counter, level_count> steals_at;  // [level]
  std::unique_ptr<Counter[]> run_for_domain;
  std::size_t domain_count;
};

}  // namespace nigh::trace
