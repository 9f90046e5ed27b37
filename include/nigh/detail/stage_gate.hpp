// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of a pipeline that its threads share: who may enter a serial stage, how many items are
// under way, and which tokens carry none.
//
// A token carries an item from stage to stage. A serial stage takes tokens by their place: the
// number of the item, or that of the token's arrival. At the slot of its place a token and the turn
// to enter the stage meet. Whichever comes second goes on with the token, so nobody waits:
//
//   arrive()   the token is there; true: so is its turn
//   leave()    the turn goes to the next place; returns the token that is there, or null
//
// Places that share a slot, N apart, never meet in it: tokens pass the stage in the order of their
// places, so if the one of place p had not left it, those of places p to p + N would be under way.
//
// (stage_gate.T) The thread that goes on sees the token's item, and what the calls of this stage
//     before it have done: arrive() and leave() release and acquire, whichever comes second.
// (stage_gate.W) A slot is used again after its use: at most N tokens are under way, so one of the
//     places p to p + N came to its place after another one of them had ended. By the credits below
//     and the counter that gives places, both of which release and acquire, the token of place
//     p + N has seen that of place p leave.
// (stage_gate.C) The source sees what it did in earlier calls, and all of a token that is free: both
//     steps of the credits release and acquire.
// (stage_gate.F) A free token is seen whole: put() releases, take_all() acquires.

#include <cstddef>
#include <cstdint>
#include <nigh/detail/atomic.hpp>
#include <nigh/detail/owned.hpp>

namespace nigh::detail {

struct pipeline_token {
  std::uint64_t number = 0;        // of its item
  std::uint64_t place = 0;         // in the stage at which it is
  std::uint32_t stage = 0;         // the one to enter, with its turn
  pipeline_token* next = nullptr;  // among those that are free, or that a thread goes on with
};

class place_counter {
 public:
  std::uint64_t next() noexcept { return places_.fetch_add(1, sync::acq_rel); }  // (stage_gate.W)

 private:
  sync::atomic<std::uint64_t> places_{0};
};

// `Cell` is pipeline_token*, or what tests replace it by.
template <class Cell>
class basic_stage_gate {
 public:
  // `slots`: a power of two, and at least the number of tokens.
  explicit basic_stage_gate(std::size_t slots) : mask_(slots - 1), slots_(new slot[slots]) {
    slots_[0].came.store(turn(0), sync::relaxed);
  }

  bool arrive(pipeline_token& token) noexcept {
    auto const place = token.place;
    auto& here = slots_[place & mask_];
    here.token = &token;
    return here.came.exchange(presence(place), sync::acq_rel) == turn(place);  // (stage_gate.T)
  }
  pipeline_token* leave(std::uint64_t place) noexcept {
    auto const next = place + 1;
    auto& there = slots_[next & mask_];
    auto const came = there.came.exchange(turn(next), sync::acq_rel);  // (stage_gate.T)
    return came == presence(next) ? static_cast<pipeline_token*>(there.token) : nullptr;
  }
  place_counter arrivals;  // for a stage that takes tokens as they come

 private:
  // The last that came to a slot: the token of a place, or the turn. Never 0.
  static constexpr std::uint64_t presence(std::uint64_t place) noexcept { return 2 * place + 2; }
  static constexpr std::uint64_t turn(std::uint64_t place) noexcept { return 2 * place + 3; }
  struct slot {
    sync::atomic<std::uint64_t> came{0};
    Cell token{};  // of the place, once that has come
  };

  std::size_t const mask_;
  owned<slot[]> const slots_;
};
using stage_gate = basic_stage_gate<pipeline_token*>;

// How many more items may be under way; -1: none, and the source waits for one.
class token_credits {
 public:
  explicit token_credits(std::int64_t tokens) noexcept : left_(tokens) {}
  // The source wants to begin another item. False: it will, when one is given back.
  bool take() noexcept { return left_.fetch_sub(1, sync::acq_rel) > 0; }  // (stage_gate.C)
  // An item has left. True: the source has waited, and has this credit.
  bool give_back() noexcept { return left_.fetch_add(1, sync::acq_rel) < 0; }  // (stage_gate.C)

 private:
  sync::atomic<std::int64_t> left_;
};

class free_tokens {
 public:
  void put(pipeline_token& token) noexcept {
    token.next = first_.load(sync::relaxed);
    while (!first_.compare_exchange_strong(token.next, &token, sync::release)) {  // (stage_gate.F)
    }
  }
  // One thread at a time.
  pipeline_token* take_all() noexcept {
    return first_.exchange(nullptr, sync::acquire);  // (stage_gate.F)
  }

 private:
  sync::atomic<pipeline_token*> first_{nullptr};
};

}  // namespace nigh::detail
