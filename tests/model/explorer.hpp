// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs small concurrent scenarios under every schedule, within bounds.
//
// The code under test is compiled on sync::atomic from model_atomic.hpp. Its threads are fibers;
// before every atomic operation the explorer chooses who goes on, and at every load which of the
// stores that the C++ memory model allows is seen: each location keeps the history of its stores,
// each thread a *view* (the oldest entry it may still see of every location); release attaches the
// view to a store, acquire takes it over; a seq_cst load sees no store older than the last seq_cst
// one; a seq_cst fence takes over the views of all such fences before it. This is the usual operational reading of release/acquire (Kang et al., "A Promising
// Semantics for Relaxed-Memory Concurrency", POPL'17, without promises). All runs are enumerated
// depth first, with a bound on preemptions and on stale reads per run.
//
// Found: lost updates, deadlock (all threads asleep), livelock, failed checks, and data races on
// model::Plain. Not modelled: stores that become visible before an earlier load of the same thread
// (load buffering), spurious failures of compare-exchange, spurious wake-ups.

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace nigh::model {

enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel, seq_cst };

struct Bounds {
  int preemptions = 2;
  int stale_reads = 2;
  long runs = 2'000'000;     // stop, incomplete, after so many
  int steps_per_run = 4000;  // more is a livelock
  // The letter of an ordering argument ("stack.C"): every operation whose statement names it in a
  // comment is weakened, to see that the tests notice.
  std::string weaken = {};
  Order weaken_to = Order::relaxed;  // acq_rel takes only seq_cst's total order away
};

struct Outcome {
  long runs = 0;
  bool complete = false;  // every schedule within the bounds was run
  std::string failure;    // empty: none found
};

// One run's set-up: the scenario makes its objects, names its threads and a last check.
struct OneRun {
  std::vector<std::function<void()>> threads;
  std::function<void()> at_end;
};

Outcome explore(Bounds const& bounds, std::function<void(OneRun&)> const& scenario);

// For use inside scenarios.
void check(bool condition, char const* what);
void yield();  // lets another thread go on; for waiting loops

// The parts of atomics and plain data.
std::uint32_t new_location(std::uint64_t value);
std::uint64_t load(std::uint32_t at, Order order, std::source_location const& where);
void store(std::uint32_t at, std::uint64_t value, Order order, std::source_location const& where);
// Applies f to the newest value; f says whether to store and what.
std::uint64_t read_modify_write(std::uint32_t at, Order order, std::source_location const& where,
                                std::function<bool(std::uint64_t, std::uint64_t&)> const& f);
// seq_cst; weakened, it is none.
void fence(std::source_location const& where = std::source_location::current());
void futex_wait(std::uint32_t at, std::uint64_t expected);
void futex_wake(std::uint32_t at, bool all);
std::uint64_t plain_load(std::uint32_t at);
void plain_store(std::uint32_t at, std::uint64_t value);

// Non-atomic data: every access must be ordered after every conflicting one.
class Plain {
 public:
  Plain(int value = 0) : at_(new_location(static_cast<std::uint64_t>(value))) {}
  Plain(Plain const& other) : Plain(other.get()) {}
  Plain& operator=(Plain const& other) {
    set(other.get());
    return *this;
  }
  int get() const { return static_cast<int>(plain_load(at_)); }
  void set(int value) { plain_store(at_, static_cast<std::uint64_t>(value)); }

 private:
  std::uint32_t at_;
};

}  // namespace nigh::model
