// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nigh/detail/stage_gate.hpp>

#include "letters.hpp"

namespace nigh::model {
namespace {

using detail::free_tokens;
using detail::pipeline_token;
using detail::place_counter;
using detail::token_credits;

struct Token : pipeline_token {
  Plain item;
};

// A slot's pointer: what two threads do with it must be ordered.
class Cell {
 public:
  Cell& operator=(pipeline_token* token) {
    uses_.set(1);
    token_ = token;
    return *this;
  }
  explicit operator pipeline_token*() const {
    static_cast<void>(uses_.get());
    return token_;
  }

 private:
  Plain uses_;
  pipeline_token* token_ = nullptr;
};
using Gate = detail::basic_stage_gate<Cell>;

// Two tokens carry items through one serial stage; each thread begins items as a parallel source
// does, and goes on with what the stage hands it.
struct Pipeline {
  explicit Pipeline(bool in_order_) : in_order(in_order_) {}

  void come(Token& token) {
    token.item.set(static_cast<int>(token.number) + 1);
    token.place = in_order ? token.number : gate.arrivals.next();
    if (gate.arrive(token)) enter(token);
  }
  void enter(Token& token) {
    auto* one = &token;
    while (one != nullptr) {
      check(one->item.get() == static_cast<int>(one->number) + 1, "the item is whole");
      check(one->place == static_cast<std::uint64_t>(calls.get()), "one call after the other");
      calls.set(calls.get() + 1);
      auto* const next = gate.leave(one->place);
      one = static_cast<Token*>(next);
    }
  }

  bool const in_order;
  Gate gate{2};
  place_counter items;
  Plain calls;
  Token tokens[2];
};

Scenario two_items(bool in_order) {
  return [in_order](OneRun& run) {
    auto p = std::make_shared<Pipeline>(in_order);
    auto const work = [p](Token& mine) {
      mine.number = p->items.next();
      p->come(mine);
    };
    run.threads = {[p, work] { work(p->tokens[0]); }, [p, work] { work(p->tokens[1]); }};
    run.at_end = [p] { check(p->calls.get() == 2, "all have come through"); };
  };
}

// One token comes late: by the time it has its place, the other one may have come and left three
// times. Its slot was used by the second of these, and the third one's place tells it so.
struct Late {
  bool comes(Token& token) {
    token.place = gate.arrivals.next();
    if (!gate.arrive(token)) return false;
    for (pipeline_token* one = &token; one != nullptr;) one = gate.leave(one->place);
    return true;
  }

  Gate gate{2};
  Token often, late;
};

Scenario a_slot_again() {
  return [](OneRun& run) {
    auto p = std::make_shared<Late>();
    run.threads = {[p] {
                     for (int i = 0; i < 3 && p->comes(p->often); ++i) {
                     }
                   },
                   [p] { p->comes(p->late); }};
  };
}

// Two tokens: the source begins an item whenever it has a credit, the other thread ends items. The
// source waits where there is none, and whoever gives one back goes on for it.
struct Source {
  token_credits credits{1};  // one of two is in use
  free_tokens free;
  Plain begun;
  Token tokens[2];

  void begin() {
    begun.set(begun.get() + 1);
    if (credits.take()) begin();
  }
};

Scenario credits() {
  return [](OneRun& run) {
    auto s = std::make_shared<Source>();
    s->begun.set(1);
    auto const end = [s] {
      if (s->credits.give_back()) s->begin();
    };
    // The first item has begun; the source goes on, two items end at any time.
    run.threads = {[s] {
                     if (s->credits.take()) s->begin();
                   },
                   end, end};
    run.at_end = [s] { check(s->begun.get() == 4, "an item for each credit"); };
  };
}

Scenario tokens() {
  return [](OneRun& run) {
    auto s = std::make_shared<Source>();
    auto const put = [s](Token& mine) {
      mine.item.set(1);
      s->free.put(mine);
    };
    run.threads = {[s, put] { put(s->tokens[0]); }, [s, put] { put(s->tokens[1]); },
                   [s] {
                     for (auto* t = s->free.take_all(); t != nullptr; t = t->next)
                       check(static_cast<Token*>(t)->item.get() == 1, "the token is whole");
                   }};
  };
}

TEST(StageGate, TakesTokensInOrder) { expect_holds(two_items(true)); }
TEST(StageGate, TakesTokensAsTheyCome) { expect_holds(two_items(false)); }
TEST(StageGate, UsesItsSlotsAgain) { expect_holds(a_slot_again()); }
TEST(StageGate, BeginsAnItemForEachCredit) { expect_holds(credits()); }
TEST(StageGate, HandsTokensBack) { expect_holds(tokens()); }
TEST(StageGate, T) { expect_needed("stage_gate.T", Order::relaxed, two_items(true)); }
TEST(StageGate, W) { expect_needed("stage_gate.W", Order::relaxed, a_slot_again()); }
TEST(StageGate, C) { expect_needed("stage_gate.C", Order::relaxed, credits()); }
TEST(StageGate, F) { expect_needed("stage_gate.F", Order::relaxed, tokens()); }

}  // namespace
}  // namespace nigh::model
