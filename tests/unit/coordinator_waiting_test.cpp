// SPDX-License-Identifier: Apache-2.0
// Those who wait are served within the bound that coordinator.hpp states, whatever the programs do;
// and of several users, each gets its part in time, whatever the others do.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator_ledger.hpp"

namespace nigh::coordinator {
namespace {

// Programs that request, work, give back late or never, and die; ticks come when they are due.
class Crowd {
 public:
  Crowd(std::uint64_t seed, int least_percent, int users = 1)
      : random_(seed),
        machine_(test::small_machine({3, 4, 1}), options(least_percent), 0),
        users_(users) {}

  void play(int steps) {
    for (int i = 0; i < steps; ++i) {
      auto const later = now_ + below(40);
      for (auto tick = machine_.next_tick(); tick && *tick <= later; tick = machine_.next_tick()) {
        now_ = *tick;
        step(Tick{});
      }
      now_ = later;
      act(1 + static_cast<Connection>(below(programs)));
    }
    // Nobody does anything any more: all who wait are served, or end; of several users, all that
    // lack some of their parts.
    if (users_ > 1) return;
    for (int ticks = 0; machine_.waiting() > 0; ++ticks) {
      ASSERT_LT(ticks, 10'000);
      ASSERT_TRUE(machine_.next_tick()) << "somebody waits for nothing";
      now_ = *machine_.next_tick();
      step(Tick{});
    }
  }
  long served = 0;
  long unplaced = 0;
  Time longest_us = 0;

 private:
  static constexpr Time slice = 50, overdue = 300;
  static constexpr Connection programs = 6;
  struct Promise {
    Time asked = 0;
    Time until = 0;
  };

  static CoordinatorOptions options(int least_percent) {
    CoordinatorOptions o;
    o.allocation.scarcity.least_percent = least_percent;
    o.slice_us = slice;
    o.overdue_us = overdue;
    o.round_us = 100;
    o.shortest_slice_us = 5;
    o.want_us = 150;
    o.keep_us = 15;
    o.claims_us = -1;
    o.overdue_between_users_us = 60;
    o.back_off = {.first_us = 50, .longest_us = overdue, .forgive_us = 1'000};
    o.open_requests = 3;
    o.line_of_a_user = 4;
    return o;
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void act(Connection c) {
    if (!ledger_.is_alive(c)) {
      Register m;
      for (int cpu = 0; cpu < 8; ++cpu)
        if (below(3) > 0) m.allowed.add(cpu);
      m.allowed.add(below(8));
      return step(Received{c, m, static_cast<std::uint32_t>(c) % static_cast<unsigned>(users_)});
    }
    std::vector<LeaseId> mine;
    for (auto const& [id, held] : ledger_.held())
      if (held.by == c) mine.push_back(id);
    int const what = below(100);
    if (what < 2) return step(Lost{c});
    if (what < 40 && !mine.empty()) return step(Received{c, Release{mine[0]}});
    auto const maximum = 1 + static_cast<std::uint32_t>(below(10));
    Request m{.ticket = ++ticket_, .demand = {maximum, 1 + maximum / 2}};
    if (!mine.empty() && below(2) == 0) m.returned = mine[0];
    if (below(3) == 0) m.patience_us = 1 + static_cast<std::uint32_t>(below(100));
    step(Received{c, m});
  }

  // All others may have a turn before each of a program's own, and it may back off meanwhile. A
  // user that has its part is promised no more.
  Time latest(Connection whose) const {
    if (users_ > 1) return std::numeric_limits<Time>::max();
    auto const own = 1 + std::count_if(promises_.begin(), promises_.end(),
                                       [&](auto const& p) { return p.first.first == whose; });
    return now_ + own * (static_cast<Time>(programs) * (slice + overdue) + overdue);
  }

  void step(Event const& event) {
    ledger_.note(event);
    auto const sent = machine_.step(event, now_);
    machine_.check();
    ledger_.note(event, sent);
    if (auto const* lost = std::get_if<Lost>(&event))
      std::erase_if(promises_, [&](auto const& p) { return p.first.first == lost->connection; });
    if (auto const* received = std::get_if<Received>(&event))
      if (auto const* m = std::get_if<Request>(&received->message))
        promises_[{received->from, m->ticket}] = {
            now_, m->patience_us != 0 ? now_ + m->patience_us : latest(received->from)};
    for (Send const& s : sent) {
      if (auto const* g = std::get_if<Grant>(&s.message)) {
        ++served;
        longest_us = std::max(longest_us, now_ - promises_.at({s.to, g->ticket}).asked);
        promises_.erase({s.to, g->ticket});
      }
      if (auto const* u = std::get_if<Unplaced>(&s.message)) {
        auto const found = promises_.find({s.to, u->ticket});
        ASSERT_NE(found, promises_.end()) << "nobody asked for that";
        ASSERT_EQ(now_, found->second.until) << "not before its patience is over";
        promises_.erase(found);
        ++unplaced;
      }
      if (auto const* r = std::get_if<Refusal>(&s.message)) promises_.erase({s.to, r->ticket});
    }
    for (auto const& [who, promise] : promises_)
      ASSERT_LE(now_, promise.until) << "program " << who.first << " waits for too long";
  }

  std::mt19937_64 random_;
  Coordinator machine_;
  int users_;
  test::Ledger ledger_;
  std::map<std::pair<Connection, Ticket>, Promise> promises_;
  Time now_ = 0;
  Ticket ticket_ = 0;
};

TEST(Coordinator, ServesWhoWaitsInBoundedTime) {
  std::uint64_t const first_seed = std::random_device{}();
  for (std::uint64_t seed = first_seed; seed < first_seed + 12; ++seed)
    for (int percent : {0, 50, 100}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", least " + std::to_string(percent) + "%");
      Crowd crowd(seed, percent);
      ASSERT_NO_THROW(crowd.play(1500));
      ASSERT_FALSE(HasFatalFailure());
      EXPECT_GT(crowd.served, 100);
      EXPECT_GT(crowd.unplaced, 0);
      EXPECT_GT(crowd.longest_us, 50) << "they did wait";
    }
}

TEST(Coordinator, KeepsCountOfSeveralUsersInAnyOrderOfEvents) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (int users : {2, 3, 6}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", users " + std::to_string(users));
      Crowd crowd(seed, 100, users);
      ASSERT_NO_THROW(crowd.play(1500));
      ASSERT_FALSE(HasFatalFailure());
      EXPECT_GT(crowd.served, 100);
    }
}

}  // namespace
}  // namespace nigh::coordinator
