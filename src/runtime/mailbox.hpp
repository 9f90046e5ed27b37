// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mailboxes: a loop on a team wants certain workers to take part, and no others. Each worker has a
// mailbox that holds one message.
//
//   sender     put() ... take_back()     any thread; then waits until `out` is 0
//   receiver   take(), call, finish()    the worker, or the thread that sits in its place
//
// Invariant: `out` counts the mailboxes that hold the message and the threads that have taken it
// and not finished. A sender that fails to put it, or takes it back, says so with missed().
//
// (mailbox.I) A receiver sees what its sender wrote before it sent the message: put() releases the
//     mailbox, take() acquires it. A message is taken once: by the exchange of take(), or by the
//     compare-exchange of take_back(); one of the two finds the mailbox empty.
// (mailbox.E) The sender sees what its receivers did: finish() releases `out`, and the sender's
//     acquiring load of 0 sees all of them. A receiver touches nothing of the message after
//     finish().
// As (parking.S) says, a sleeping receiver is found by its waker or finds its mailbox full; a
// sleeping sender likewise. put() and finish() come before the wake-up; is_full() and the look at
// `out` come after the sleeper was announced.

#include <cstdint>

#include "base/atomic.hpp"
#include "base/race_detector.hpp"

namespace nigh::tasks {

struct Worker;

struct MailboxMessage {
  // Takes part, in the calling thread; keeps its exceptions.
  using entry = void (*)(MailboxMessage& self) noexcept;

  MailboxMessage(entry call_, Worker* sender_, std::uint32_t marks_ = 0) noexcept
      : call(call_), sender(sender_), marks(marks_) {}

  // How many mailboxes it is to be put into: before it is.
  void expect(std::uint32_t receivers) noexcept { out.store(receivers, sync::relaxed); }
  // Of these, so many will not come. Says whether nobody is out any more.
  bool missed(std::uint32_t receivers) noexcept {
    bool const none = receivers == 0
                          ? out.load(sync::acquire) == 0                            // (mailbox.E)
                          : out.fetch_sub(receivers, sync::acquire) == receivers;  // (mailbox.E)
    base::announce_acquire(&out);
    return none;
  }
  // True for the last one: the sender may be asleep.
  bool finish() noexcept {
    base::announce_release(&out);
    return out.fetch_sub(1, sync::seq_cst) == 1;  // (mailbox.E) (parking.S)
  }

  entry const call;
  Worker* const sender;  // to be woken; null: a thread without a slot, which sends nothing
  std::uint32_t const marks;  // of the task that sent it (Worker::mark_bits), which it belongs to
  sync::atomic<std::uint32_t> out{0};
};

class Mailbox {
 public:
  // False: there is another one.
  bool put(MailboxMessage& message) noexcept {
    MailboxMessage* none = nullptr;
    if (box_.load(sync::relaxed) != nullptr) return false;
    base::announce_release(&box_);
    return box_.compare_exchange_strong(none, &message, sync::seq_cst);  // (mailbox.I) (parking.S)
  }
  // False: it has been taken.
  bool take_back(MailboxMessage& message) noexcept {
    MailboxMessage* expected = &message;
    return box_.load(sync::relaxed) == &message &&
           box_.compare_exchange_strong(expected, nullptr, sync::relaxed);  // (mailbox.I)
  }
  // Null: there is none.
  MailboxMessage* take() noexcept {
    if (box_.load(sync::relaxed) == nullptr) return nullptr;
    auto* const message = box_.exchange(nullptr, sync::acquire);  // (mailbox.I)
    base::announce_acquire(&box_);
    return message;
  }
  bool is_full() const noexcept { return box_.load(sync::seq_cst) != nullptr; }  // (parking.S)

 private:
  alignas(64) sync::atomic<MailboxMessage*> box_{nullptr};
};

}  // namespace nigh::tasks
