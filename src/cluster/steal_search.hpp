// SPDX-License-Identifier: Apache-2.0
#pragma once
// Victim selection among ranks, and its pauses. A state machine: outcomes and times come in, a
// victim comes out. It sends nothing.
//
//   searching ──asks(victim)──▶ waits for the answer ──succeeds()──▶ a new round
//       ▲                              │ fails()
//       └── the next victim; after a round without luck, a rest ──┘
//
// One request at a time is under way, for all workers of the rank.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/random.hpp"
#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/idle.hpp"
#include "policy/stealing/steal_order.hpp"

namespace nigh::cluster {

// How many of the waiting tasks a thief gets.
struct Chunk {
  policy::ChunkChoice choice;
  level where;  // how far the thief is
  level topmost;
  std::size_t fixed = 1;
  std::size_t operator()(std::size_t waiting) const noexcept {
    return policy::chunk_to_steal(choice, waiting, where, topmost, fixed);
  }
};

// Ranks at the same switch and ranks beyond it are all at the level `cluster`. Only the farthest of
// them count as topmost.
inline Chunk chunk_for(int thief, policy::VictimPlan const& plan, policy::ChunkChoice choice,
                       std::size_t fixed) {
  std::size_t const at = plan.level_of[static_cast<std::size_t>(thief)];
  auto const where = plan.levels[at].level;
  bool const is_farthest = at + 1 == plan.levels.size();
  return {choice, is_farthest ? where : std::min(where, level::host), plan.topmost, fixed};
}

class StealSearch {
 public:
  struct Policies {
    policy::VictimChoice victims = policy::VictimChoice::hierarchical;
    policy::SearchPause rest{20'000, 1'000'000};
    std::uint32_t seed = 1;          // the rank is mixed in
    std::int64_t soon_ns = 300'000;  // an answer may be expected for so long
  };
  static constexpr int nobody = -1;

  // The plan must outlive the search.
  StealSearch(policy::VictimPlan const& plan, Policies const& policies)
      : plan_(plan),
        policies_(policies),
        // The multiplication spreads seeds over all bits; otherwise every rank would begin with the
        // rank next to it.
        random_state_((static_cast<std::uint32_t>(plan.self) + policies.seed) * 0x9e3779b9u | 1u) {}

  // A run begins. A request of the last run may still be under way.
  void begin_run() noexcept {
    failed_rounds_ = 0;
    rests_until_ns_ = 0;
  }

  bool may_ask(std::int64_t now_ns) const noexcept {
    return asked_ == nobody && now_ns >= rests_until_ns_;
  }
  // The victim of this attempt. Ends with asks(), fails() or succeeds().
  int next_victim() noexcept {
    if (attempt_ == 0) bits_of_round_ = base::next_random(random_state_);
    bool const is_random = policies_.victims == policy::VictimChoice::random;
    return policy::victim(plan_, policies_.victims, attempt_,
                          is_random ? base::next_random(random_state_) : bits_of_round_)
        .worker;
  }
  void asks(int victim, std::int64_t now_ns) noexcept {
    asked_ = victim;
    asked_ns_ = now_ns;
  }
  // The answer to the request has come.
  void is_answered() noexcept { asked_ = nobody; }
  int asked() const noexcept { return asked_; }

  void succeeds() noexcept {
    attempt_ = failed_rounds_ = 0;
    rests_until_ns_ = 0;
  }
  // True: that was the last attempt of a round, and a rest begins.
  bool fails(std::int64_t now_ns) noexcept {
    if (++attempt_ < plan_.attempts_per_round) return false;
    attempt_ = 0;
    rests_until_ns_ = now_ns + policy::search_pause_ns(++failed_rounds_, policies_.rest);
    return true;
  }
  void rest_at_least_until(std::int64_t time_ns) noexcept {
    rests_until_ns_ = std::max(rests_until_ns_, time_ns);
  }

  // Tasks may come at any moment.
  bool expects_tasks(std::int64_t now_ns) const noexcept {
    return asked_ != nobody && now_ns - asked_ns_ < policies_.soon_ns;
  }

 private:
  policy::VictimPlan const& plan_;
  Policies const policies_;
  int asked_ = nobody;
  std::int64_t asked_ns_ = 0;
  int attempt_ = 0;  // of this round
  int failed_rounds_ = 0;
  std::int64_t rests_until_ns_ = 0;
  std::uint32_t random_state_;
  std::uint32_t bits_of_round_ = 0;
};

}  // namespace nigh::cluster
