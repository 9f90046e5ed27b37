// SPDX-License-Identifier: Apache-2.0
#pragma once
// Locality queues for programs that stay in OpenMP (technique: Wittmann and Hager 2009).
//
// A piece of work (block) is put into the queue of the domain that holds its data, and then a task
// is created. The task does not know its block: it takes the oldest one of the domain in which it
// runs, or, when there is none, of the nearest domain that has one.
//
//   nigh::openmp::locality_queues<block> queues(nigh::this_host());
//   #pragma omp parallel
//   #pragma omp single
//   for (block const& b : blocks) {
//     queues.enqueue(nigh::domain_of(b.data()), b);
//     #pragma omp task
//     queues.process_one([&](block const& mine) { update(mine); });
//   }
//
// Enqueueing comes first, so there is always a block for a task, though seldom the one it was
// created with. Threads should be pinned (OMP_PROC_BIND=close).

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nigh/topology.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh::openmp {

// Blocks processed so far, by whether the thread ran in the domain the block was queued for.
struct block_counters {
  std::uint64_t local = 0;
  std::uint64_t remote = 0;

  double remote_share() const noexcept {
    auto const all = local + remote;
    return all == 0 ? 0.0 : static_cast<double>(remote) / static_cast<double>(all);
  }
};

// One first-in-first-out queue for each domain of a machine. Any number of threads may call the
// member functions at the same time.
//
// Memory: blocks that wait, and room for as many as ever waited at one time in the same queue, at
// most twice that. The OpenMP runtime bounds it where it bounds its own tasks (64 per thread in
// libgomp, 256 in all in libomp); otherwise it is the number of blocks enqueued.
template <class Block>
class locality_queues {
  static_assert(std::is_nothrow_move_constructible_v<Block> &&
                    std::is_nothrow_move_assignable_v<Block> &&
                    std::is_default_constructible_v<Block>,
                "a block is moved while a lock is held, and must not throw then");

 public:
  // The machine must outlive the queues.
  explicit locality_queues(topology const& machine)
      : machine_(&machine), domains_(machine.domains().size()), queues_(new queue[domains_]) {
    for (std::size_t d = 0; d < domains_; ++d) {
      queues_[d].taken_by.resize(domains_ + 1);
      order_.push_back(nearest_first(machine, static_cast<int>(d)));
    }
  }

  // Throws std::out_of_range for a domain the machine does not have, and std::bad_alloc; then
  // nothing was queued.
  void enqueue(int domain, Block block) {
    if (domain < 0 || static_cast<std::size_t>(domain) >= domains_)
      throw std::out_of_range("locality_queues: no domain " + std::to_string(domain));
    queue& q = queues_[static_cast<std::size_t>(domain)];
    std::lock_guard const lock(q.mutex);
    q.push(std::move(block));
  }

  // Takes one block, of the calling thread's domain if possible, and calls f(block). False when no
  // block was waiting, which does not happen in a task created after its enqueue(). Exceptions of f
  // are passed on (they must not escape from an OpenMP task); the block counts as processed.
  template <class F>
  bool process_one(F&& f) {
    return process_one_in(machine_->domain_of_cpu(current_cpu()), std::forward<F>(f));
  }

  // The same for a caller that knows its domain. -1: it is in none of them, so every block is
  // remote.
  template <class F>
  bool process_one_in(int domain, F&& f) {
    std::optional<Block> block = take(domain);
    if (!block) return false;
    std::forward<F>(f)(*block);
    return true;
  }

  block_counters counters() const {
    block_counters sum;
    for (std::size_t d = 0; d < domains_; ++d) {
      std::lock_guard const lock(queues_[d].mutex);
      for (std::size_t taker = 0; taker <= domains_; ++taker)
        (taker == d ? sum.local : sum.remote) += queues_[d].taken_by[taker];
    }
    return sum;
  }

  void reset_counters() {
    for (std::size_t d = 0; d < domains_; ++d) {
      std::lock_guard const lock(queues_[d].mutex);
      std::fill(queues_[d].taken_by.begin(), queues_[d].taken_by.end(), 0);
    }
  }

  std::size_t waiting() const noexcept {  // a recent state
    std::size_t sum = 0;
    for (std::size_t d = 0; d < domains_; ++d) sum += queues_[d].waiting();
    return sum;
  }

 private:
  // The counts `pushed` and `popped` are written under the lock only.
  // (locality_queues.A) A thread reads them before it takes the lock, so an empty queue costs two
  //     loads and no lock. The counts are confirmed under the lock.
  // (locality_queues.B) A task whose block was enqueued before it was created always finds one. To
  //     give up, a thread must see every queue empty, and then no `pushed` changed. Each pop it saw
  //     was made by another such task, whose own push is visible with the pop (release and
  //     acquire), at the latest to the second reading of `pushed`, and is therefore in the first as
  //     well. So it would have seen as many pushes as there were other tasks' pops, and its own:
  //     more pushes than pops, and some queue not empty.
  struct alignas(64) queue {
    mutable std::mutex mutex;
    std::atomic<std::uint64_t> pushed{0};
    std::atomic<std::uint64_t> popped{0};
    std::vector<Block> ring;              // of a power of two blocks
    std::vector<std::uint64_t> taken_by;  // [domain of the taker, or one beyond: none]

    std::size_t waiting() const noexcept {
      auto const out = popped.load(std::memory_order_acquire);  // (locality_queues.B)
      auto const in = pushed.load(std::memory_order_acquire);   // (locality_queues.B)
      return in > out ? in - out : 0;
    }

    void push(Block block) {
      auto const in = pushed.load(std::memory_order_relaxed);
      auto const out = popped.load(std::memory_order_relaxed);
      if (in - out == ring.size()) grow(out, in);
      ring[in & (ring.size() - 1)] = std::move(block);
      pushed.store(in + 1, std::memory_order_release);  // (locality_queues.B)
    }

    std::optional<Block> pop(std::size_t taker) noexcept {
      auto const in = pushed.load(std::memory_order_relaxed);
      auto const out = popped.load(std::memory_order_relaxed);
      if (in == out) return std::nullopt;
      std::optional<Block> block(std::move(ring[out & (ring.size() - 1)]));
      popped.store(out + 1, std::memory_order_release);  // (locality_queues.B)
      ++taken_by[taker];
      return block;
    }

    void grow(std::uint64_t out, std::uint64_t in) {
      std::vector<Block> larger(std::max<std::size_t>(16, 2 * ring.size()));
      for (auto n = out; n != in; ++n)
        larger[n & (larger.size() - 1)] = std::move(ring[n & (ring.size() - 1)]);
      ring = std::move(larger);
    }
  };

  // Itself, then the other domains by distance; equally distant ones in a ring that starts after
  // `self`, so that threads of different domains do not all ask the same queue.
  static std::vector<std::size_t> nearest_first(topology const& machine, int self) {
    auto const n = static_cast<int>(machine.domains().size());
    std::vector<std::pair<double, int>> others;  // distance, steps along the ring
    for (int step = 1; step < n; ++step)
      others.emplace_back(machine.distance(self, (self + step) % n), step);
    std::sort(others.begin(), others.end());
    std::vector<std::size_t> order{static_cast<std::size_t>(self)};
    for (auto const& [distance, step] : others)
      order.push_back(static_cast<std::size_t>((self + step) % n));
    return order;
  }

  std::optional<Block> take(int domain) {
    bool const known = domain >= 0 && static_cast<std::size_t>(domain) < domains_;
    std::size_t const taker = known ? static_cast<std::size_t>(domain) : domains_;
    std::vector<std::size_t> const& order = order_[known ? taker : 0];
    for (;;) {
      std::uint64_t pushed_before = 0;
      for (std::size_t const d : order) {
        queue& q = queues_[d];
        pushed_before += q.pushed.load(std::memory_order_acquire);  // (locality_queues.B)
        if (q.waiting() == 0) continue;                             // (locality_queues.A)
        std::lock_guard const lock(q.mutex);
        if (auto block = q.pop(taker)) return block;
      }
      std::uint64_t pushed_after = 0;
      for (std::size_t const d : order)
        pushed_after += queues_[d].pushed.load(std::memory_order_acquire);  // (locality_queues.B)
      if (pushed_before == pushed_after) return std::nullopt;
    }
  }

  topology const* machine_;
  std::size_t domains_;
  std::unique_ptr<queue[]> queues_;
  std::vector<std::vector<std::size_t>> order_;  // [domain]: itself, then the others
};

}  // namespace nigh::openmp
