// SPDX-License-Identifier: Apache-2.0
// Supervised tasks in whole processes, on a network that lets ranks go on when one is killed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>
#include <nigh/cluster.hpp>
#include <nigh/cluster_checkpoint.hpp>
#include <nigh/isolate.hpp>
#include <string>
#include <thread>

#include "socket_network.hpp"

namespace {

namespace cluster = nigh::cluster;
using nigh::tests::SocketNetwork;

int self = -1;
int dies = -1;                // this rank does
int by = SIGKILL;             // or is stopped
int workers = 2;              // of a rank
std::atomic<int> lives{100};  // after so many tasks

bool survivors_go_on = true, is_funneled = false;

struct Network final : SocketNetwork {
  using SocketNetwork::SocketNetwork;
  bool survivors_go_on() const noexcept override { return ::survivors_go_on; }
  bool is_funneled() const noexcept override { return ::is_funneled; }
};

// The words that the processes of a test share beside their network.
struct Signs {
  std::atomic<bool> late_has_begun{false}, runs_are_over{false}, late_has_ended{false};
  std::atomic<bool> lost_has_begun{false};
};
Signs& signs = *::new (::mmap(nullptr, sizeof(Signs), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Signs;

void await(std::atomic<bool> const& sign) {
  while (!sign) ::usleep(1000);
}

void die() { ::kill(::getpid(), by); }

long fib(int n) {
  if (self == dies && --lives == 0) die();
  if (n < 2) return n;
  long left, right;
  cluster::task_scope scope;
  scope.spawn<fib>(left, n - 1);
  scope.spawn<fib>(cluster::near(n % 3), right, n - 2);
  scope.wait();
  return left + right;
}

// 0: all runs have given the right answers.
int run_fibs() {
  for (int n : {12, 13, 14})
    if (cluster::run<fib>(n) != (n == 12 ? 144 : n == 13 ? 233 : 377)) return 3;
  return 0;
}

// How many of its leaves are in an isolated region.
long isolated_leaves(int n) {
  if (self == dies && --lives == 0) die();
  if (n < 2) return nigh::detail::in_isolated_region() ? 1 : 0;
  long left, right;
  cluster::task_scope scope;
  scope.spawn<isolated_leaves>(left, n - 1);
  scope.spawn<isolated_leaves>(right, n - 2);
  scope.wait();
  return left + right;
}
long isolated_leaves_of_a_region(int n) {
  long const inside = nigh::this_task_region::isolate([=] { return isolated_leaves(n); });
  return inside + 1000 * isolated_leaves(n);
}
int run_a_region() { return cluster::run<isolated_leaves_of_a_region>(13) == 377 ? 0 : 3; }

int four() { return 4; }

constexpr int elsewhere = -1;  // is the result of a task that another rank has taken: once more

// Rank 1 has had it from rank 0, gives it to rank 2, and is lost. There it goes on, in the next run
// and when all are over.
int late() {
  if (self != 2) return elsewhere;
  int result = 0;
  signs.late_has_begun = true;
  for (bool is_last = false; !is_last;) {
    is_last = signs.runs_are_over;
    try {
      cluster::task_scope scope;
      scope.spawn<four>(cluster::near(0), result);
      scope.wait();
    } catch (cluster::remote_error const& e) {
      if (std::string_view(e.what()).ends_with("the run is over")) continue;
      return 0;
    }
  }
  signs.late_has_ended = result == 4;
  return result;
}

template <auto* f>
int run_near(int rank) {
  int result = elsewhere;
  while (result == elsewhere) {
    cluster::task_scope scope;
    scope.spawn<f>(cluster::near(rank), result);
    scope.wait();
  }
  return result;
}

int passed_on() {
  if (self != 1) return signs.late_has_begun ? 4 : elsewhere;
  return run_near<late>(2);
}

int lost_on_rank_1() { return run_near<passed_on>(1); }

int run_late() {
  if (self == 1)
    std::thread([] {
      await(signs.late_has_begun);
      die();
    }).detach();
  bool const is_right = cluster::run<lost_on_rank_1>() == 4 && run_fibs() == 0;
  if (self == 2) signs.runs_are_over = true;
  return is_right ? 0 : 3;
}

void have_tasks_until_lost_begins() {
  using Clock = std::chrono::steady_clock;
  auto const end = Clock::now() + std::chrono::seconds(30);
  while (!signs.lost_has_begun && Clock::now() < end) {
    int result = 0;
    cluster::task_scope scope;
    scope.spawn<four>(result);
    scope.wait();
  }
}

// The only worker of rank 0 has tasks of its own until the one that was lost has begun again.
int lost_with_rank_1() {
  if (self == 1) die();
  signs.lost_has_begun = true;
  return 4;
}
int stay_busy() {
  int lost = 0;
  cluster::task_scope all;
  all.spawn<lost_with_rank_1>(cluster::near(1), lost);
  have_tasks_until_lost_begins();
  bool const has_begun = signs.lost_has_begun;
  all.wait();
  return has_begun ? lost : 0;
}
// Rank 1 has such tasks from the root task, which begins anew there when rank 0 is killed.
int busy_with_useless_tasks() {
  signs.late_has_begun = true;
  have_tasks_until_lost_begins();
  signs.late_has_ended = true;
  return 0;
}
int root_that_is_lost() {
  if (self == 1) {
    bool const is_in_time = !signs.late_has_ended;
    signs.lost_has_begun = true;
    return is_in_time ? 4 : 0;
  }
  int result = 0;
  cluster::task_scope scope;
  scope.spawn<busy_with_useless_tasks>(cluster::near(1), result);
  while (!signs.late_has_begun) ::usleep(1000);
  die();
  scope.wait();
  return 0;
}
int run_busy() { return cluster::run<stay_busy>() == 4 ? 0 : 3; }
int run_lost_root() { return cluster::run<root_that_is_lost>() == 4 ? 0 : 3; }

// Counts to 30 from its last step; each step is a task of the next rank, and has a large copy.
std::vector<int> next_step(int step) { return std::vector<int>(5'000, step); }
int first_step() {
  auto const last = cluster::last_checkpoint<std::vector<int>>("steps");
  return last ? static_cast<int>(last->step) : 0;
}
int count_steps(int ranks) {
  int const first = first_step();
  for (int step = first + 1; step <= 30; ++step) {
    if (self == dies && step == lives) die();
    std::vector<int> numbers;
    cluster::task_scope scope;
    scope.spawn<next_step>(cluster::near((self + 1) % ranks), numbers, step);
    scope.wait();
    cluster::checkpoint("steps", step, numbers);
  }
  auto const last = cluster::last_checkpoint<std::vector<int>>("steps");
  return last && last->value == next_step(30) ? first : -1;
}
int forget_steps() {
  cluster::forget_checkpoint("steps");
  return first_step();
}
// The root has gone on from the step before the one at which rank 0 was killed; the next run from
// the last.
int run_steps() {
  int const first = cluster::run<count_steps>(3), again = cluster::run<count_steps>(3);
  bool const is_forgotten = cluster::run<forget_steps>() == 0;
  return first == (dies == 0 ? lives - 1 : 0) && again == 30 && is_forgotten ? 0 : 3;
}

int run_rank(std::vector<SocketNetwork::Pair> const& pairs, int rank, int ranks,
             cluster::session_options options, int (*program)()) {
  self = rank;
  options.workers.workers = workers;
  options.supervised = true;
  cluster::session here(std::make_unique<Network>(pairs, rank, ranks), options);
  return program();
}

// Where others had almost all of the tasks, it is stopped behind them.
int run_and_stop() {
  int const status = run_fibs();
  if (self == dies && lives > 0) die();
  return status;
}

// Others go on once more when the one that was stopped is back, and has ended.
int run_while_it_is_back() {
  if (run_and_stop() != 0) return 3;
  if (self == 0) signs.late_has_begun = true;
  await(signs.runs_are_over);
  return run_fibs();
}

// Of those that were not stopped first.
void end_the_others(std::vector<pid_t> const& children, std::vector<int>& statuses) {
  for (std::size_t r = 0; r < children.size(); ++r)
    if (static_cast<int>(r) != dies || by != SIGSTOP) ::waitpid(children[r], &statuses[r], 0);
}
void wake_it(std::vector<pid_t> const& children, std::vector<int>& statuses) {
  auto const r = static_cast<std::size_t>(dies);
  ::kill(children[r], SIGCONT);
  ::waitpid(children[r], &statuses[r], 0);
}

// The status of each rank, as wait() tells it.
std::vector<int> run_ranks(int ranks, cluster::session_options const& options = {},
                           int (*program)() = run_fibs) {
  auto const pairs = SocketNetwork::pairs(ranks);
  std::vector<int> statuses(static_cast<std::size_t>(ranks));
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    auto const child = ::fork();
    if (child == 0) {
      ::alarm(100);
      ::_exit(run_rank(pairs, rank, ranks, options, program));
    }
    children.push_back(child);
  }
  for (auto const& pair : pairs) SocketNetwork::close(pair);
  bool const comes_back_early = program == run_while_it_is_back;
  if (comes_back_early) {
    await(signs.late_has_begun);
    wake_it(children, statuses);
    signs.runs_are_over = true;
  }
  end_the_others(children, statuses);
  if (by == SIGSTOP && !comes_back_early) wake_it(children, statuses);
  return statuses;
}

TEST(Survivors, NeedNobodyToBeLost) {
  dies = -1;
  EXPECT_EQ(run_ranks(3), (std::vector<int>{0, 0, 0}));
}

TEST(Survivors, RunAgainWhatWasKilledWithARank) {
  for (int const after : {1, 3, 30, 100, 300}) {
    dies = 1;
    lives = after;
    EXPECT_EQ(run_ranks(3), (std::vector<int>{0, SIGKILL, 0})) << "after " << after << " tasks";
  }
}

TEST(Survivors, KeepTasksOfARegionIsolatedWhereverTheyRun) {
  workers = 1;
  for (int const after : {0, 1, 10, 100}) {  // rank 1 has hardly ever 100
    dies = after > 0 ? 1 : -1;
    lives = after;
    testing::internal::CaptureStderr();
    auto const statuses = run_ranks(3, {}, run_a_region);
    EXPECT_THAT(statuses, testing::ElementsAre(0, testing::AnyOf(0, SIGKILL), 0))
        << "after " << after << " tasks";
    testing::internal::GetCapturedStderr();
  }
  workers = 2;
}

TEST(Survivors, RunAgainWhatWasKilledWithLifelines) {
  cluster::session_options options;
  ASSERT_TRUE(cluster::set_victims(options, "lifelines"));
  for (int const after : {2, 100}) {
    dies = 2;
    lives = after;
    EXPECT_EQ(run_ranks(4, options), (std::vector<int>{0, 0, SIGKILL, 0}))
        << "after " << after << " tasks";
  }
}

TEST(Survivors, RunLostTasksAgainThoughTheyHaveOthers) {
  dies = -1;
  workers = 1;
  ::new (&signs) Signs;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_ranks(2, {}, run_busy), (std::vector<int>{0, SIGKILL}));
  ::new (&signs) Signs;
  EXPECT_EQ(run_ranks(2, {}, run_lost_root), (std::vector<int>{SIGKILL, 0}));
  testing::internal::GetCapturedStderr();
  workers = 2;
}

TEST(Survivors, EndWhateverIsLeftOfTasksThatNobodyWaitsFor) {
  dies = -1;
  ::new (&signs) Signs;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_ranks(3, {}, run_late), (std::vector<int>{0, SIGKILL, 0}));
  EXPECT_TRUE(signs.late_has_ended);
  auto const said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::MatchesRegex("nigh: rank 1 on .* is lost; the others go on\n"));
}

TEST(Survivors, BeginTheRootTaskAnewWhenItsRankIsLost) {
  for (int const after : {1, 50, 300}) {
    dies = 0;
    lives = after;
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_ranks(3), (std::vector<int>{SIGKILL, 0, 0})) << "after " << after << " tasks";
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                testing::MatchesRegex("nigh: rank 0 on .* is lost; the others go on\n"));
  }
}

TEST(Survivors, GoOnFromTheLastCheckpoint) {
  for (auto const& [who, step] : {std::pair{-1, 1}, {0, 2}, {0, 17}, {0, 30}}) {
    dies = who;
    lives = step;
    EXPECT_EQ(run_ranks(3, {}, run_steps), (std::vector<int>{who == 0 ? SIGKILL : 0, 0, 0}))
        << "at step " << step;
  }
}

// A rank that is stopped, after so many tasks; back when all others have ended, or before.
class Stopped : public testing::Test {
 public:
  Stopped() {
    ::setenv("NIGH_CLUSTER_SILENCE", "1.5", 1);
    by = SIGSTOP;
    dies = 1;
    ::new (&signs) Signs;
  }
  ~Stopped() override {
    ::unsetenv("NIGH_CLUSTER_SILENCE");
    by = SIGKILL;
  }
  std::vector<int> run(int (*program)() = run_and_stop) {
    testing::internal::CaptureStderr();
    auto statuses = run_ranks(3, {}, program);
    said = testing::internal::GetCapturedStderr();
    for (int& s : statuses) s = WIFEXITED(s) ? WEXITSTATUS(s) : -1;
    return statuses;
  }
  std::string said;
};

TEST_F(Stopped, IsTakenForLost) {
  for (int const after : {1, 30, 300}) {
    lives = after;
    EXPECT_EQ(run(), (std::vector<int>{0, 1, 0})) << "after " << after << " tasks: " << said;
    EXPECT_NE(said.find("has been silent for 1.5 s; the others go on\n"), said.npos) << said;
  }
}

TEST_F(Stopped, IsToldWhenItIsBack) {
  lives = 100;
  EXPECT_EQ(run(run_while_it_is_back), (std::vector<int>{0, 1, 0})) << said;
  EXPECT_THAT(said,
              testing::ContainsRegex("nigh: rank 1 on .* was silent for 1.5 s, and the others "
                                     "went on; rank 1 on .* ends\n"));
}

TEST_F(Stopped, KeepsNobodyFromLeaving) {
  lives = 1'000'000;
  EXPECT_EQ(run(), (std::vector<int>{0, 1, 0})) << said;
}

TEST_F(Stopped, HasASuccessorIfItHasTheRoot) {
  dies = 0;
  lives = 50;
  EXPECT_EQ(run(), (std::vector<int>{1, 0, 0})) << said;
  EXPECT_THAT(said, testing::ContainsRegex(
                        "nigh: rank 0 on .* has been silent for 1.5 s; the others go on\n"));
}

TEST_F(Stopped, NeedsATime) {
  ::setenv("NIGH_CLUSTER_SILENCE", "soon", 1);
  dies = -1;
  by = SIGKILL;
  EXPECT_EQ(run(), (std::vector<int>{2, 2, 2}));
  EXPECT_EQ(said,
            "nigh: NIGH_CLUSTER_SILENCE of rank 0 is not a number of seconds from 0.1 to 86400, "
            "or 0 for no watch\n");
}

// The complaint of rank 0 about a network where they are not.
std::string why_not() {
  dies = -1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_ranks(3), (std::vector<int>{0, 0, 0}));
  return testing::internal::GetCapturedStderr();
}

TEST(Survivors, AreNotPromisedWhereThereAreNone) {
  survivors_go_on = false;
  EXPECT_EQ(why_not(),
            "nigh: tasks are not supervised, since the MPI library lets no rank go on without the "
            "others (sockets): a lost rank ends all\n");
  survivors_go_on = true;
  is_funneled = true;
  EXPECT_EQ(why_not(),
            "nigh: tasks are not supervised, since MPI runs with MPI_THREAD_FUNNELED (sockets): a "
            "lost rank ends all\n");
  is_funneled = false;
}

}  // namespace
