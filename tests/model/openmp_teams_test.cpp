// SPDX-License-Identifier: Apache-2.0
// How the threads of an OpenMP team find each other (src/openmp/tasks): they see each other whole, come
// out of a barrier together, and run dependent tasks one after another.

#include <array>
#include <memory>

#include "letters.hpp"
#include "openmp/tasks/depend_node.hpp"
#include "openmp/tasks/known_runtimes.hpp"
#include "openmp/tasks/following.hpp"
#include "openmp/tasks/meeting.hpp"
#include "openmp/tasks/sleeper.hpp"
#include "openmp/tasks/yielding_lock.hpp"

namespace nigh::openmp::tasks {
struct Member {
  model::Plain made;
};
}  // namespace nigh::openmp::tasks

namespace nigh::model {
namespace {

using namespace openmp::tasks;

// A task that depends on another runs after it, whichever thread finds that it may.
struct Pair {
  DependNode first, second;
  NodeOfTask of_first;
  Plain result;
  int runs = 0;

  Pair() {
    first.begin(nullptr, nullptr);
    second.begin(nullptr, nullptr);
    of_first = first.now();
  }

  void end_first() {
    result.set(7);
    for (auto* const next : first.end())
      if (next->one_has_ended()) run_second();
  }
  void run_second() {
    ++runs;
    check(result.get() == 7, "what the task before did is seen");
  }
};

Scenario one_after_another() {
  return [](OneRun& run) {
    auto p = std::make_shared<Pair>();
    run.threads = {[p] {
                     p->second.wait_for(p->of_first);
                     if (p->second.is_ready()) p->run_second();
                   },
                   [p] { p->end_first(); }};
    run.at_end = [p] { check(p->runs == 1, "the second task ran once"); };
  };
}

// A thread sleeps until another task has ended.
Scenario asleep_for_a_dependence() {
  struct Waiting {
    Pair pair;
    Sleeper sleeper;
    sync::atomic<std::uint32_t> sleepers{0};
    Waiting() { pair.second.wait_for(pair.of_first); }
  };
  return [](OneRun& run) {
    auto w = std::make_shared<Waiting>();
    run.threads = {[w] {
                     while (!w->pair.second.is_over())
                       w->sleeper.sleep(w->sleepers, [w] { return w->pair.second.is_over(); });
                     check(w->pair.result.get() == 7, "what the task did is seen");
                   },
                   [w] {
                     w->pair.result.set(7);
                     for (auto* const next : w->pair.first.end()) next->one_has_ended();
                     w->sleeper.wake();
                   }};
  };
}

// The first task's node is another task's by the time that the second one is made.
Scenario used_again() {
  return [](OneRun& run) {
    auto p = std::make_shared<Pair>();
    run.threads = {[p] {
                     p->second.wait_for(p->of_first);
                     if (p->second.is_ready()) p->run_second();
                   },
                   [p] {
                     p->end_first();
                     p->first.begin(nullptr, nullptr);
                   }};
    run.at_end = [p] {
      check(p->runs == 1, "the second task ran once");
      check(p->first.end().count() == 0, "nobody waits for a task that is not before it");
    };
  };
}

Scenario counting_under_the_lock() {
  struct Shared {
    YieldingLock lock;
    Plain count;
  };
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads.assign(2, [s] {
      Locked const here(s->lock);
      s->count.set(s->count.get() + 1);
    });
    run.at_end = [s] { check(s->count.get() == 2, "no update is lost"); };
  };
}

// Members come, and a thief looks for them. `few`: from there on the table is allocated.
template <std::uint32_t few>
Scenario coming_together() {
  struct Meeting {
    MemberTable<Member, few> members;
    std::array<Member, 2> each;
  };
  return [](OneRun& run) {
    auto m = std::make_shared<Meeting>();
    auto const come = [m](std::uint32_t i) {
      m->each[i].made.set(1);
      m->members.put(2, i, m->each[i]);
    };
    run.threads = {[come] { come(0); }, [come] { come(1); },
                   [m] {
                     for (std::uint32_t i : {0U, 1U})
                       if (Member const* const found = m->members.at(i); found != nullptr)
                         check(found->made.get() == 1, "a member is seen whole");
                   }};
    run.at_end = [m] {
      check(m->members.at(0) == &m->each[0] && m->members.at(1) == &m->each[1], "both are there");
      m->members.clear();
    };
  };
}

// Two threads need a thing that none has made yet.
Scenario made_once() {
  struct Needing {
    MadeOnce<Member> once;
    std::array<Member, 2> each;
    int unmade = 0;
  };
  return [](OneRun& run) {
    auto n = std::make_shared<Needing>();
    auto const need = [n](std::size_t i) {
      auto const make = [n, i] {
        n->each[i].made.set(1);
        return &n->each[i];
      };
      Member const* const got = n->once.get_or(make, [n](Member*) { ++n->unmade; });
      check(got->made.get() == 1, "the thing is seen whole");
    };
    run.threads = {[need] { need(0); }, [need] { need(1); }};
    run.at_end = [n] { check(n->once.get_alone() != nullptr && n->unmade <= 1, "one was made"); };
  };
}

// Each domain has a member; a third thread asks whether all have come, and the second has none.
Scenario domains_of_all() {
  return [](OneRun& run) {
    auto t = std::make_shared<TeamDomains>();
    run.threads = {[t] { t->add(0); }, [t] { t->add(1); },
                   [t] { check(!t->is_deserted(1, 2), "the domain has a member"); }};
    run.at_end = [t] { check(t->is_deserted(2, 2), "the third domain has none"); };
  };
}

// A barrier, twice.
Scenario barriers() {
  struct Barrier {
    Arrivals arrivals;
    std::array<Plain, 2> did;
  };
  return [](OneRun& run) {
    auto b = std::make_shared<Barrier>();
    auto const pass = [b](std::size_t i) {
      std::uint32_t before = 0;
      for (int round = 1; round <= 2; ++round) {
        b->did[i].set(round);
        // Before the other reads, and before it writes again.
        for (int half = 0; half < 2; ++half, ++before) {
          if (!b->arrivals.arrive(2))
            while (!b->arrivals.has_gone_on(before)) sync::pause();
          if (half == 0) check(b->did[1 - i].get() == round, "what all did before is seen");
        }
      }
    };
    run.threads = {[pass] { pass(0); }, [pass] { pass(1); }};
  };
}

// A thread sleeps until all have arrived.
Scenario asleep_until_all_arrive() {
  struct Barrier {
    Arrivals arrivals;
    std::array<Sleeper, 2> each;
    sync::atomic<std::uint32_t> sleepers{0};
  };
  return [](OneRun& run) {
    auto b = std::make_shared<Barrier>();
    auto const pass = [b](std::size_t i) {
      constexpr std::uint32_t before = 0;
      if (b->arrivals.arrive(2)) {
        if (b->sleepers.load(sync::seq_cst) != 0) b->each[1 - i].wake();  // (sleeper.S)
        return;
      }
      while (!b->arrivals.has_gone_on(before))
        b->each[i].sleep(b->sleepers, [&] { return b->arrivals.has_gone_on(before); });
    };
    run.threads = {[pass] { pass(0); }, [pass] { pass(1); }};
  };
}

// A thread waits in the runtime's barrier, and another shares the region's first task.
Scenario called_from_elsewhere() {
  struct Barrier {
    EverShared ever_shared;
    Elsewhere elsewhere;
    MemberTable<Member, 2> members;
    Member one;
    Plain did;
    int stayed = 0, called = 0;
  };
  return [](OneRun& run) {
    auto b = std::make_shared<Barrier>();
    run.threads = {[b] {
                     b->members.put(2, 1, b->one);
                     b->did.set(1);
                     b->elsewhere.go(1);
                     if (b->ever_shared.is_so_before_wait() && b->elsewhere.stay(1)) b->stayed = 1;
                   },
                   [b] {
                     if (!b->ever_shared.note()) return;
                     fence();
                     if (b->members.at(1) == nullptr || !b->elsewhere.call(1)) return;
                     b->called = 1;
                     check(b->did.get() == 1, "what it did before is seen");
                   }};
    run.at_end = [b] { check(b->stayed + b->called == 1, "it stays or is called, and not both"); };
  };
}

// The leader changes the team's place twice; the second time only if the other has followed.
Scenario following() {
  struct Moving {
    Changes changes;
    Follower other;
    Plain place;
  };
  return [](OneRun& run) {
    auto m = std::make_shared<Moving>();
    auto const change = [m](int to) {
      m->place.set(to);
      m->changes.add();
    };
    run.threads = {[m, change] {
                     change(1);
                     if (m->other.has_followed(1)) change(2);
                   },
                   [m] {
                     for (int looks = 0; looks < 2; ++looks) {
                       auto const now = m->changes.count();
                       if (!m->other.is_behind(now)) continue;
                       check(m->place.get() == static_cast<int>(now), "the place of this change");
                       m->other.follow(now);
                     }
                   }};
  };
}

// A thread sleeps until the leader changes the team's place.
Scenario asleep_until_a_change() {
  struct Moving {
    Changes changes;
    Follower other;
    Sleeper sleeper;
    sync::atomic<std::uint32_t> sleepers{0};
  };
  return [](OneRun& run) {
    auto m = std::make_shared<Moving>();
    run.threads = {[m] {
                     m->changes.add();
                     if (m->sleepers.load(sync::seq_cst) != 0) m->sleeper.wake();  // (sleeper.S)
                   },
                   [m] {
                     auto const is_behind = [m] {
                       return m->other.is_behind(m->changes.count_before_sleep());
                     };
                     while (!is_behind()) m->sleeper.sleep(m->sleepers, is_behind);
                   }};
  };
}

Scenario known_runtime() {
  return [](OneRun& run) {
    struct Facts {
      Plain number;
    };
    auto k = std::make_shared<KnownRuntimes<Facts, 2>>();
    auto const inside = static_cast<void const*>(k.get());
    run.threads = {[k, inside] { k->find_or_add(inside, [](Facts& f) { f.number.set(5); }); },
                   [k, inside] {
                     if (Facts const* const found = k->find(inside); found != nullptr)
                       check(found->number.get() == 5, "all that is known is seen");
                   }};
  };
}

TEST(OpenMPTeams, DependentTasksComeOneAfterAnother) {
  expect_holds(one_after_another(), {.preemptions = 3});
  expect_holds(asleep_for_a_dependence(), {.preemptions = 3});
  expect_holds(used_again(), {.preemptions = 3});
  expect_holds(counting_under_the_lock(), {.preemptions = 4});
}

TEST(OpenMPTeams, ThreadsSeeEachOther) {
  expect_holds(coming_together<2>());
  expect_holds(coming_together<1>());
  expect_holds(made_once(), {.preemptions = 4});
  expect_holds(domains_of_all(), {.preemptions = 3});
  expect_holds(known_runtime(), {.preemptions = 4});
}

TEST(OpenMPTeams, ThreadsPassABarrierTogether) {
  expect_holds(barriers(), {.preemptions = 3});
  expect_holds(asleep_until_all_arrive(), {.preemptions = 3});
  expect_holds(called_from_elsewhere(), {.preemptions = 4});
}

TEST(OpenMPTeams, ThreadsFollowTheirTeam) {
  expect_holds(following(), {.preemptions = 4});
  expect_holds(asleep_until_a_change(), {.preemptions = 3});
}

TEST(OpenMPTeams, SOfTheChange) { expect_needed("sleeper.S", Order::acq_rel, asleep_until_a_change()); }
TEST(OpenMPTeams, C) { expect_needed("following.C", Order::relaxed, following()); }
TEST(OpenMPTeams, F) { expect_needed("following.F", Order::relaxed, following()); }
TEST(OpenMPTeams, SOfTheDependence) { expect_needed("sleeper.S", Order::acq_rel, asleep_for_a_dependence()); }
TEST(OpenMPTeams, SOfTheBarrier) { expect_needed("sleeper.S", Order::acq_rel, asleep_until_all_arrive()); }
TEST(OpenMPTeams, D) { expect_needed("depend_node.D", Order::relaxed, one_after_another()); }
TEST(OpenMPTeams, J) { expect_needed("try_lock.T", Order::relaxed, counting_under_the_lock()); }
TEST(OpenMPTeams, M) { expect_needed("meeting.M", Order::relaxed, coming_together<2>()); }
TEST(OpenMPTeams, Q) { expect_needed("meeting.Q", Order::relaxed, made_once()); }
TEST(OpenMPTeams, E) { expect_needed("meeting.E", Order::relaxed, domains_of_all()); }
TEST(OpenMPTeams, G) { expect_needed("meeting.G", Order::relaxed, barriers()); }
TEST(OpenMPTeams, L) { expect_needed("meeting.L", Order::acq_rel, called_from_elsewhere()); }
TEST(OpenMPTeams, GOfWhoIsCalled) { expect_needed("meeting.G", Order::relaxed, called_from_elsewhere()); }
TEST(OpenMPTeams, A) { expect_needed("known_runtimes.A", Order::relaxed, known_runtime()); }

}  // namespace
}  // namespace nigh::model
