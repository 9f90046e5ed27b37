// SPDX-License-Identifier: Apache-2.0
// Counted waves under random schedules: they never end a run that has a task left, and soon end one
// that has none. The schedules are those that break simpler rules, which is shown as well.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cluster/termination.hpp"

namespace nigh::cluster {
namespace {

struct Plan {
  std::uint64_t seed = 0;
  int ranks = 1;
  int arity = 2;
  int runs = 3;
  int tasks = 60;  // of a run
  bool looks_only_when_quiet = true;
  int slowness = 4;  // of tasks beside waves
};

// Ranks that spawn free tasks anywhere, and fork-join children that run anywhere and spawn free
// tasks themselves. Every message may be overtaken by every other, those of waves may come twice,
// and counts may be old as far as they are allowed to be.
class Network {
 public:
  explicit Network(Plan plan) : plan_(plan), random_(plan.seed) {
    for (int r = 0; r < plan.ranks; ++r) ranks_.push_back({{r, plan.ranks, plan.arity}});
  }

  // Until all runs are over; false when that takes too long, or a run ends that has tasks.
  bool run() {
    for (std::int64_t step = 0; step < 400'000; ++step) {
      act();
      watch_waves();
      bool all_done = true;
      for (Rank const& rank : ranks_) {
        bool const ended = rank.begun > 0 && rank.termination.has_ended();
        if (ended && rank.begun == run_now_ && unfinished_ > 0) return false;
        all_done &= ended && rank.begun == plan_.runs;
      }
      if (all_done && messages_.empty()) return true;
    }
    return false;
  }

  int wrong_by_one_wave = 0;  // waves that saw as many ends as creations, with tasks left
  std::uint64_t most_waves_after_the_last_task = 0;

 private:
  struct Task {
    int parent_rank = -1;  // of a fork-join child
    std::uint64_t parent = 0;
    std::uint64_t name = 0;
    int children = 0;  // that it waits for
  };
  struct Rank {
    Termination termination;
    int begun = 0;
    std::list<Task> tasks{};
    TaskCounts counts{};              // of free tasks
    std::uint64_t finished_seen = 0;  // counts.finished, as it was some time ago
  };
  struct Message {
    enum class Kind : std::uint8_t { task, result, wave } kind;
    int from, to;
    Task task{};
    TerminationMessage wave{};
  };

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  int anybody() { return below(plan_.ranks); }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void act() {
    int const who = anybody();
    Rank& rank = at(who);
    if (chance(20) || unfinished_ == 0) rank.finished_seen = rank.counts.finished;
    switch (below(plan_.slowness)) {
      case 0:
        return work(who);
      case 1:
        return begin(who);
      case 2:
        return look(who);
      default:
        return deliver();
    }
  }

  void begin(int who) {
    Rank& rank = at(who);
    if (rank.begun == plan_.runs || (rank.begun > 0 && !rank.termination.has_ended())) return;
    rank.termination.begin();
    ++rank.begun;
    if (who > 0) return;
    run_now_ = rank.begun;
    tasks_left_ = plan_.tasks;
    spawn_free(0, 0);
  }

  void spawn_free(int from, int to) {
    --tasks_left_;
    ++unfinished_;
    Rank& rank = at(from);
    ++rank.counts.created;
    Task const task{.name = ++names_};
    if (from == to) return rank.tasks.push_back(task);
    messages_.push_back({Message::Kind::task, from, to, task});
  }

  void work(int who) {
    Rank& rank = at(who);
    if (rank.tasks.empty()) return;
    auto task = std::next(rank.tasks.begin(), below(static_cast<int>(rank.tasks.size())));
    if (tasks_left_ > 0 && chance(30)) return spawn_free(who, anybody());
    if (tasks_left_ > 0 && chance(30)) {
      --tasks_left_;
      ++task->children;
      Task const child{.parent_rank = who, .parent = task->name, .name = ++names_};
      messages_.push_back({Message::Kind::task, who, anybody(), child});
      return;
    }
    if (task->children > 0 || chance(50)) return;
    if (task->parent_rank < 0) {
      ++rank.counts.finished;
      if (--unfinished_ == 0) waves_at_the_end_ = ranks_.front().termination.waves();
    } else {
      messages_.push_back({Message::Kind::result, who, task->parent_rank, *task});
    }
    rank.tasks.erase(task);
  }

  void deliver() {
    if (messages_.empty()) return;
    auto const i = static_cast<std::size_t>(below(static_cast<int>(messages_.size())));
    Message const message = messages_[i];
    if (message.kind != Message::Kind::wave || !chance(20)) {  // else it will come again
      messages_[i] = messages_.back();
      messages_.pop_back();
    }
    Rank& rank = at(message.to);
    switch (message.kind) {
      case Message::Kind::task:
        return rank.tasks.push_back(message.task);
      case Message::Kind::result:
        for (Task& task : rank.tasks) task.children -= task.name == message.task.parent;
        return;
      case Message::Kind::wave:
        return post(message.to, rank.termination.received(message.from, message.wave));
    }
  }

  void look(int who) {
    Rank& rank = at(who);
    TaskCounts const counts{rank.counts.created, rank.finished_seen};
    bool const quiet = rank.tasks.empty() || !plan_.looks_only_when_quiet;
    post(who, rank.termination.look(counts, quiet));
  }

  void post(int from, std::vector<Termination::Send> const& sends) {
    for (auto const& send : sends)
      messages_.push_back({Message::Kind::wave, from, send.to, {}, send.message});
  }

  void watch_waves() {
    Termination const& root = ranks_.front().termination;
    if (root.waves() == waves_) return;
    waves_ = root.waves();
    TaskCounts const sums = root.last_wave();
    wrong_by_one_wave += sums.created == sums.finished && unfinished_ > 0;
    if (unfinished_ == 0)
      most_waves_after_the_last_task =
          std::max(most_waves_after_the_last_task, waves_ - waves_at_the_end_);
  }

  Plan plan_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::vector<Message> messages_;
  std::uint64_t names_ = 0, waves_ = 0, waves_at_the_end_ = 0;
  int run_now_ = 0, tasks_left_ = 0;
  int unfinished_ = 0;  // free tasks and roots, wherever they are
};

std::vector<Plan> plans() {
  std::vector<Plan> all;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (int const ranks : {1, 2, 3, 4, 7, 16})
      for (int const arity : {1, 2, 4})
        for (int const tasks : {3, 6, 60})
          for (int const slowness : {4, 20})
            all.push_back({.seed = seed,
                           .ranks = ranks,
                           .arity = arity,
                           .tasks = tasks,
                           .looks_only_when_quiet = seed % 2 == 0,
                           .slowness = slowness});
  return all;
}

TEST(ClusterTermination, EndsEveryRunOnceItsTasksAreDone) {
  std::uint64_t most_waves = 0;
  for (Plan const& plan : plans()) {
    Network network(plan);
    ASSERT_TRUE(network.run()) << "seed " << plan.seed << ", " << plan.ranks << " ranks, arity "
                               << plan.arity;
    most_waves = std::max(most_waves, network.most_waves_after_the_last_task);
  }
  // The one that was under way, and two that agree.
  EXPECT_LE(most_waves, 3u);
}

TEST(ClusterTermination, WouldEndTooEarlyAfterOneWave) {
  int wrong = 0;
  for (Plan const& plan : plans()) {
    Network network(plan);
    network.run();
    wrong += network.wrong_by_one_wave;
  }
  EXPECT_GT(wrong, 0) << "these schedules do not tell one wave from two";
}

// Two waves that count messages with free tasks, on passive ranks, would be wrong: they miss the
// tasks that stolen children of free tasks create. Free task F was sent to rank 1 by the root; f is
// created on rank 2 by a child of F, and g on rank 1 by a child of f.
TEST(ClusterTermination, WouldEndTooEarlyIfMessagesWereCounted) {
  struct Counts {
    TaskCounts root, wave_1_of_1, wave_1_of_2, wave_2_of_1, wave_2_of_2;
    bool ends;
  };
  for (auto const& [root, one_first, two_first, one_then, two_then, ends] :
       {Counts{{1, 0}, {0, 1}, {0, 0}, {0, 1}, {0, 0}, true},      // messages sent, received
        Counts{{2, 1}, {0, 1}, {0, 0}, {0, 1}, {1, 1}, false}}) {  // tasks created, finished
    Termination ranks[] = {{0, 3}, {1, 3}, {2, 3}};
    for (auto& rank : ranks) rank.begin();
    auto const to_all = [&](std::vector<Termination::Send> const& sends) {
      for (auto const& send : sends) ranks[send.to].received(0, send.message);
    };
    auto const answer = [&](int from, TaskCounts here) {
      ranks[0].received(from, ranks[from].look(here, true).front().message);
    };
    to_all(ranks[0].look(root, true));
    answer(2, two_first);
    // A child of F comes to rank 2 and creates f. Then it ends, and F.
    answer(1, one_first);
    to_all(ranks[0].look(root, true));
    answer(1, one_then);
    // A child of f comes to rank 1 and creates g. Then it ends, and f.
    answer(2, two_then);
    ranks[0].look(root, true);
    EXPECT_EQ(ranks[0].has_ended(), ends) << "while g is there";
  }
}

}  // namespace
// ---- the end of a run

TEST(RunEnd, IsTheRootsEndWithoutFreeTasks) {
  RunEnd root(0, 2, false), other(1, 2, false);
  root.begin_run();
  other.begin_run();
  EXPECT_FALSE(root.verdict());
  root.root_has_ended({false, 1, {}});
  auto const verdict = root.verdict();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->rank, 1);
  EXPECT_FALSE(root.verdict()) << "all are told once";
  EXPECT_FALSE(other.is_over());
  other.is_over_with(1, *verdict);
  EXPECT_TRUE(other.is_over());
  EXPECT_EQ(other.last_over(), 1u);
  EXPECT_EQ(other.take_outcome().rank, 1);
  EXPECT_FALSE(other.is_over()) << "of the next run";
}

// One rank, so that each look is a wave.
TEST(RunEnd, WaitsForFreeTasksAndTellsTheFirstFailure) {
  RunEnd end(0, 1, true);
  end.begin_run();
  end.root_has_ended({false, 0, {}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(end.wants_counts());
    end.look({2, 0}, true);
  }
  EXPECT_FALSE(end.verdict()) << "two free tasks are not finished";
  end.free_task_has_failed({true, 5, {}});  // which finishes it
  end.free_task_has_failed({true, 6, {}});
  for (int i = 0; i < 2; ++i) end.look({2, 0}, true);
  auto const verdict = end.verdict();
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->failed);
  EXPECT_EQ(verdict->rank, 5);
}

TEST(RunEnd, PrefersTheRootsOwnFailure) {
  RunEnd end(0, 1, true);
  end.begin_run();
  end.free_task_has_failed({true, 5, {}});
  end.root_has_ended({true, 0, {}});
  for (int i = 0; i < 2; ++i) end.look({1, 0}, true);
  EXPECT_EQ(end.verdict().value().rank, 0);
}

}  // namespace nigh::cluster
