// SPDX-License-Identifier: Apache-2.0
// A sender that puts its message into two mailboxes, takes back those not taken, and waits for the
// rest.

#include "runtime/mailbox.hpp"

#include <array>
#include <memory>

#include "letters.hpp"
#include "runtime/parking.hpp"

namespace nigh::model {
namespace {

using tasks::Mailbox;
using tasks::MailboxMessage;

struct Party {
  std::array<Mailbox, 2> boxes;
  Plain plan;                    // the sender's, before it puts its message
  std::array<Plain, 2> results;  // a receiver's, for the sender
  MailboxMessage to{nullptr, nullptr};
  sync::atomic<bool> over{false};  // the message's frame is gone
};

// Once around: a receiver takes part while the message is there, and the sender waits for it.
Scenario party(int receivers) {
  return [receivers](OneRun& run) {
    auto p = std::make_shared<Party>();
    auto const n = static_cast<std::size_t>(receivers);
    run.threads = {[p, n] {
      p->plan.set(1);
      p->to.expect(static_cast<std::uint32_t>(n));
      std::uint32_t missed = 0;
      for (std::size_t g = 0; g < n; ++g)
        if (!p->boxes[g].put(p->to)) ++missed;
      std::array<bool, 2> came{};
      for (std::size_t g = 0; g < n; ++g) {
        bool const back = p->boxes[g].take_back(p->to);
        if (back) ++missed;
        came[g] = !back;
      }
      if (!p->to.missed(missed))
        while (p->to.out.load(sync::acquire) != 0) sync::pause();
      p->over.store(true, sync::relaxed);
      for (std::size_t g = 0; g < n; ++g)
        if (came[g]) check(p->results[g].get() == 1, "a receiver's work is not seen");
    }};
    for (std::size_t g = 0; g < n; ++g)
      run.threads.push_back([p, g] {
        auto* const to = p->boxes[g].take();
        if (to == nullptr) return;
        check(p->plan.get() == 1, "the sender's work is not seen");
        p->results[g].set(1);
        check(!p->over.load(sync::relaxed), "the sender has not waited");
        static_cast<void>(to->finish());
      });
  };
}

// A sleeping receiver is woken, and so is a sender that sleeps while it waits.
Scenario asleep() {
  return [](OneRun& run) {
    struct Sleepers {
      Mailbox box;
      MailboxMessage to{nullptr, nullptr};
      tasks::Parking parking{{{0, 1}}, {{0}}, 2};
    };
    auto s = std::make_shared<Sleepers>();
    run.threads = {[s] {
                     s->to.expect(1);
                     check(s->box.put(s->to), "the box is empty");
                     s->parking.wake(1, 0);
                     s->parking.start_searching(0);
                     while (s->to.out.load(sync::acquire) != 0)
                       s->parking.sleep(0, 0, [&] { return s->to.out.load(sync::seq_cst) == 0; });
                     s->parking.stop_searching(0);
                   },
                   [s] {
                     MailboxMessage* to = nullptr;
                     s->parking.start_searching(0);
                     while ((to = s->box.take()) == nullptr)
                       s->parking.sleep(1, 0, [&] { return s->box.is_full(); });
                     s->parking.stop_searching(0);
                     if (to->finish()) s->parking.wake(0, 0);
                   }};
  };
}

TEST(MailboxMessage, IsTakenOnceOrTakenBack) {
  expect_holds(party(1), {.preemptions = 4});
  expect_holds(party(2), {.preemptions = 3});
  expect_holds(asleep(), {.preemptions = 3});
}

TEST(MailboxMessage, I) { expect_needed("mailbox.I", Order::relaxed, party(1)); }
TEST(MailboxMessage, E) { expect_needed("mailbox.E", Order::relaxed, party(2)); }
TEST(MailboxMessage, S) {
  expect_needed("parking.S", Order::acq_rel, asleep(), {.preemptions = 3});
}

}  // namespace
}  // namespace nigh::model
