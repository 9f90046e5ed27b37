// SPDX-License-Identifier: Apache-2.0
#pragma once
// Invitations: somebody wants certain workers to take part in something, and nobody else. Each
// worker has a box for one.
//
//   host    put() ... take_back()     any thread; then waits until nobody is out
//   guest   take(), call, finish()    the worker, or who sits in its place
//
// Invariant: `out` counts the boxes that hold the invitation and those who have taken it and not
// finished. Who fails to put it, or takes it back, says so with missed().
//
// (I) A guest sees what its host wrote before it invited: put() releases the box, take() acquires
//     it. An invitation is taken once: by take()'s exchange, or by the compare-exchange of
//     take_back(), of which one finds the box empty.
// (E) The host sees what its guests did: finish() releases `out`, and so the host's acquiring load
//     of 0 sees all of them. A guest touches nothing of the invitation afterwards.
// (S) A guest that sleeps is found asleep by its waker or finds its box full, and a host that
//     sleeps likewise, as in parking.hpp: put() and finish() come before the wake-up, in the order
//     of all seq_cst operations; is_full() and the look at `out` after it was announced.

#include <cstdint>

#include "base/atomic.hpp"

namespace nigh::tasks {

struct Worker;

struct Invitation {
  // Takes part, in the calling thread; keeps its exceptions.
  using entry = void (*)(Invitation& self) noexcept;

  Invitation(entry call_, Worker* host_) noexcept : call(call_), host(host_) {}

  // How many boxes it is to be put into: before it is.
  void expect(std::uint32_t guests) noexcept { out.store(guests, sync::relaxed); }
  // Of these, so many will not come. Says whether nobody is out any more.
  bool missed(std::uint32_t guests) noexcept {
    if (guests == 0) return out.load(sync::acquire) == 0;   // (E)
    return out.fetch_sub(guests, sync::acquire) == guests;  // (E)
  }
  // True for the last one, unless the host has more to say: it may be asleep.
  bool finish() noexcept { return out.fetch_sub(1, sync::seq_cst) == 1; }  // (E) (S)

  entry const call;
  Worker* const host;  // whom to wake; null: a thread without a seat, who invites nobody
  sync::atomic<std::uint32_t> out{0};
};

class InvitationBox {
 public:
  // False: there is another one.
  bool put(Invitation& to) noexcept {
    Invitation* none = nullptr;
    return box_.load(sync::relaxed) == nullptr &&
           box_.compare_exchange_strong(none, &to, sync::seq_cst);  // (I) (S)
  }
  // False: it has been taken.
  bool take_back(Invitation& to) noexcept {
    Invitation* expected = &to;
    return box_.load(sync::relaxed) == &to &&
           box_.compare_exchange_strong(expected, nullptr, sync::relaxed);  // (I)
  }
  // Null: there is none.
  Invitation* take() noexcept {
    if (box_.load(sync::relaxed) == nullptr) return nullptr;
    return box_.exchange(nullptr, sync::acquire);  // (I)
  }
  bool is_full() const noexcept { return box_.load(sync::seq_cst) != nullptr; }  // (S)

 private:
  alignas(64) sync::atomic<Invitation*> box_{nullptr};
};

}  // namespace nigh::tasks
