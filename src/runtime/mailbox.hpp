// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mailboxes: a loop on a team wants certain workers to take part in it, and no others. Each worker
// has a mailbox that holds one message.
//
//   sender     put() ... take_back()     any thread; then waits until nobody is out
//   receiver   take(), call, finish()    the worker, or the thread that sits in its place
//
// Invariant: `out` counts the mailboxes that hold the message and the threads that have taken it
// and not finished. A sender that fails to put it, or takes it back, says so with missed().
//
// (I) A receiver sees what its sender wrote before it sent the message: put() releases the box,
// take()
//     acquires it. A message is taken once: by take()'s exchange, or by the compare-exchange of
//     take_back(), of which one finds the mailbox empty.
// (E) The sender sees what its receivers did: finish() releases `out`, and so the sender's
// acquiring load
//     of 0 sees all of them. A receiver touches nothing of the message afterwards.
// (S) A receiver that sleeps is found asleep by its waker or finds its mailbox full, and a sender
// that
//     sleeps likewise, as in parking.hpp: put() and finish() come before the wake-up, in the order
//     of all seq_cst operations; is_full() and the look at `out` after it was announced.

#include <cstdint>

#include "base/atomic.hpp"

namespace nigh::tasks {

struct Worker;

struct MailboxMessage {
  // Takes part, in the calling thread; keeps its exceptions.
  using entry = void (*)(MailboxMessage& self) noexcept;

  MailboxMessage(entry call_, Worker* sender_) noexcept : call(call_), sender(sender_) {}

  // How many mailboxes it is to be put into: before it is.
  void expect(std::uint32_t receivers) noexcept { out.store(receivers, sync::relaxed); }
  // Of these, so many will not come. Says whether nobody is out any more.
  bool missed(std::uint32_t receivers) noexcept {
    if (receivers == 0) return out.load(sync::acquire) == 0;      // (E)
    return out.fetch_sub(receivers, sync::acquire) == receivers;  // (E)
  }
  // True for the last one: the sender may be asleep.
  bool finish() noexcept { return out.fetch_sub(1, sync::seq_cst) == 1; }  // (E) (S)

  entry const call;
  Worker* const sender;  // to be woken; null: a thread without a slot, which sends nothing
  sync::atomic<std::uint32_t> out{0};
};

class Mailbox {
 public:
  // False: there is another one.
  bool put(MailboxMessage& to) noexcept {
    MailboxMessage* none = nullptr;
    return box_.load(sync::relaxed) == nullptr &&
           box_.compare_exchange_strong(none, &to, sync::seq_cst);  // (I) (S)
  }
  // False: it has been taken.
  bool take_back(MailboxMessage& to) noexcept {
    MailboxMessage* expected = &to;
    return box_.load(sync::relaxed) == &to &&
           box_.compare_exchange_strong(expected, nullptr, sync::relaxed);  // (I)
  }
  // Null: there is none.
  MailboxMessage* take() noexcept {
    if (box_.load(sync::relaxed) == nullptr) return nullptr;
    return box_.exchange(nullptr, sync::acquire);  // (I)
  }
  bool is_full() const noexcept { return box_.load(sync::seq_cst) != nullptr; }  // (S)

 private:
  alignas(64) sync::atomic<MailboxMessage*> box_{nullptr};
};

}  // namespace nigh::tasks
