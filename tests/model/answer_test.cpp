// SPDX-License-Identifier: Apache-2.0
#include "coordinator/protocol/answer.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

using coordinator::AnswerWord;
using coordinator::Ticket;

// The lease of an answer, as a variable. An atomic that orders all before it stands for messages by
// the socket: a request, and an answer.
struct Shared {
  AnswerWord word;
  Plain lease;
  sync::atomic<Ticket> request{0}, message{0};
};

// Awake for some looks, then asleep until there is a message.
void ask(Shared& s, Ticket ticket, int looks) {
  s.word.await(ticket);
  s.request.store(ticket, sync::release);
  bool there = false;
  for (int i = 0; i < looks && !there; ++i) there = s.word.is_answered(ticket);
  if (there || s.word.sleep(ticket))
    check(s.lease.get() == static_cast<int>(ticket), "the lease is that of this request");
  else
    while (s.message.load(sync::acquire) != ticket) sync::pause();
}

void answer(Shared& s, Ticket ticket) {
  if (s.word.is_awaited(ticket)) {
    s.lease.set(static_cast<int>(ticket));
    if (s.word.settle(ticket)) return;
  }
  s.message.store(ticket, sync::release);
}

void await_request(Shared& s, Ticket ticket) {
  while (s.request.load(sync::acquire) != ticket) sync::pause();
}

// It is answered, whether anybody is awake or not: nobody waits for ever.
Scenario asking(int looks) {
  return [looks](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s, looks] { ask(*s, 1, looks); },
                   [s] {
                     await_request(*s, 1);
                     answer(*s, 1);
                   }};
  };
}

// The answer to a request that nobody waits for any more comes while the next one is answered.
Scenario answering_late() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s] {
                     s->word.await(1);
                     if (s->word.sleep(1)) check(false, "nobody answers that yet");
                     ask(*s, 2, 1);
                   },
                   [s] {
                     await_request(*s, 2);
                     answer(*s, 2);
                     auto const before = s->message.load(sync::relaxed);
                     answer(*s, 1);
                     check(s->message.load(sync::relaxed) == 1, "what comes late is a message");
                     s->message.store(before, sync::relaxed);
                   }};
  };
}

TEST(AnswerWord, BringsEachAnswer) {
  for (int looks : {0, 1, 2}) expect_holds(asking(looks), {.preemptions = 3, .stale_reads = 2});
}
TEST(AnswerWord, TakesNoAnswerForAnother) {
  expect_holds(answering_late(), {.preemptions = 3, .stale_reads = 2});
}
TEST(AnswerWord, A) {
  expect_needed("answer.A", Order::relaxed, asking(0));
  expect_needed("answer.A", Order::relaxed, asking(1));
}

}  // namespace
}  // namespace nigh::model
