// SPDX-License-Identifier: Apache-2.0
// Each promise of cluster.hpp, on one rank.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <nigh/cluster.hpp>
#include <nigh/cluster_checkpoint.hpp>
#include <nigh/cluster_for.hpp>
#include <nigh/fork_join.hpp>
#include <numeric>
#include <thread>

#include "cluster/transport.hpp"

namespace {

using namespace nigh;
using cluster::Alone;

long fib(int n) {
  if (n < 2) return n;
  long left;
  cluster::task_scope scope;
  scope.spawn<fib>(left, n - 1);
  long const right = fib(n - 2);
  scope.wait();
  return left + right;
}

std::vector<int> squares(std::span<int const> of, std::string_view) {
  std::vector<int> result;
  for (int const i : of) result.push_back(i * i);
  return result;
}

std::vector<int> squares_by_halves(std::vector<int> const& of) {
  if (of.size() < 4) return squares(of, "");
  auto const middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::vector<int> left, right;
  cluster::task_scope scope;
  scope.spawn<squares_by_halves>(left, std::vector<int>(of.begin(), middle));
  scope.spawn<squares>(right, std::vector<int>(middle, of.end()), "words that need a box");
  scope.wait();
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

struct Span {
  int first = 1, last = 1;
  bool operator==(Span const&) const = default;
};
struct Size {  // has no default
  explicit constexpr Size(int n) : bytes(n) {}
  int bytes;
  bool operator==(Size const&) const = default;
};

std::vector<Size> sizes(std::vector<Span> const& of) {
  std::vector<Size> all;
  for (auto const& [first, last] : of) all.emplace_back(last - first);
  return all;
}

int throwing(int n) {
  if (n == 0) throw std::runtime_error("zero");
  int r = 0;
  cluster::task_scope scope;
  scope.spawn<throwing>(r, n - 1);
  scope.wait();
  return r;
}

long with_forks(int n) {
  if (n < 2) return n;
  long left = 0, more = 0;
  cluster::task_scope scope;
  scope.spawn<with_forks>(left, n - 1);
  auto const right = std::get<0>(fork_join([&] { return with_forks(n - 2); }, [&] { more = 1; }));
  scope.wait();
  return left + right + 0 * more;
}

int one() { return 1; }

int at_home(int n) {
  int sum = 0, got = 0;
  for (int i = 0; i < n; ++i) {
    cluster::task_scope scope;
    scope.spawn<one>(cluster::near(0), got);
    scope.wait();
    sum += got;
  }
  return sum;
}

int at_no_rank(int rank) {
  int got = 0;
  cluster::task_scope scope;
  scope.spawn<one>(cluster::near(rank), got);
  scope.wait();
  return got;
}

std::atomic<int> free_runs{0};

void free_tree(int depth) {
  ++free_runs;
  for (int i = 0; depth > 0 && i < 2; ++i) cluster::spawn_free<free_tree>(depth - 1);
}

void plant(int depth) { cluster::spawn_free<free_tree>(depth); }

void throwing_free(int) { throw std::runtime_error("nobody waits for me"); }

int plant_throwing() {
  cluster::spawn_free<throwing_free>(1);
  return 3;
}

std::vector<std::atomic<int>> visits(100);

void visit(index_range r, int by) {
  for (auto i = r.begin; i < r.end; ++i) visits[i] += by;
}

void visit_all(int by) {
  cluster::parallel_for<visit>({10, 100, 7}, by);
  cluster::parallel_for<visit>({0, 10, 3}, [](std::size_t) { return 0; }, by);
  cluster::parallel_for<visit>({5, 5, 3}, by);
}

void visit_by_all(index_range r, std::span<int const> by, std::string_view) {
  for (int const one : by) visit(r, one);
}

void visit_by_views() {
  std::vector<int> const by{1, 2};
  cluster::parallel_for<visit_by_all>({0, 100, 7}, std::span(by), std::string_view("twice"));
}

void blocks_at_no_rank(int rank) {
  cluster::parallel_for<visit>({0, 10, 3}, [=](std::size_t) { return rank; }, 1);
}

cluster::session_options with_workers(int n) {
  cluster::session_options options;
  options.workers.workers = n;
  return options;
}

class OneRank : public testing::Test {
 public:
  cluster::session here{std::make_unique<Alone>(), with_workers(1)};
};

TEST_F(OneRank, RunsTheRootAndWhatItSpawns) {
  EXPECT_EQ(here.rank(), 0);
  EXPECT_EQ(here.ranks(), 1);
  EXPECT_EQ(cluster::run<fib>(20), 6765);
  EXPECT_EQ(cluster::run<fib>(1), 1) << "runs follow each other";
}

TEST_F(OneRank, TakesRowsAndViewsAndBoxesWhatDoesNotFit) {
  std::vector<int> numbers(20);
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_EQ(cluster::run<squares_by_halves>(numbers), squares(numbers, ""));
  EXPECT_EQ((cluster::run<squares>(std::span<int const>(numbers).first(3), std::string_view("x"))),
            squares(std::span(numbers).first(3), "x"));
}

TEST_F(OneRank, TakesVectorsOfStructures) {
  EXPECT_THAT(cluster::run<sizes>(std::vector<Span>{{1, 4}, {5, 7}}), testing::ElementsAre(Size(3), Size(2)));
}

TEST_F(OneRank, ThrowsWhatTheRootThrows) {
  try {
    cluster::run<throwing>(5);
    FAIL();
  } catch (cluster::remote_error const& e) {
    EXPECT_STREQ(e.what(), "zero");
    EXPECT_EQ(e.rank(), 0);
  }
}

TEST_F(OneRank, MixesWithForks) { EXPECT_EQ(cluster::run<with_forks>(15), 610); }

TEST_F(OneRank, RunsWhatIsNearItsOwnRankItself) {
  EXPECT_EQ(cluster::run<at_home>(10), 10);
  EXPECT_EQ(here.counters().tasks_placed, 0u);
}

template <auto f>
std::string why_not(int rank) {
  try {
    cluster::run<f>(rank);
  } catch (cluster::remote_error const& e) {
    return e.what();
  }
  return "";
}

TEST_F(OneRank, RefusesRanksThatDoNotExist) {
  EXPECT_EQ(why_not<at_no_rank>(1), "near: rank 1 does not exist");
  EXPECT_EQ(why_not<at_no_rank>(-1), "near: rank -1 does not exist");
  EXPECT_EQ(why_not<blocks_at_no_rank>(2), "near: rank 2 does not exist");
}

TEST_F(OneRank, ReturnsWhenFreeTasksAreDone) {
  for (int run = 1; run <= 3; ++run) {
    free_runs = 0;
    cluster::run<plant>(8);
    EXPECT_EQ(free_runs.load(), 511) << "in run " << run;
  }
}

TEST_F(OneRank, ThrowsWhatAFreeTaskThrows) {
  try {
    cluster::run<plant_throwing>();
    FAIL();
  } catch (cluster::remote_error const& e) {
    EXPECT_STREQ(e.what(), "nobody waits for me");
  }
  EXPECT_EQ(cluster::run<fib>(10), 55) << "the next run is another one";
}

TEST_F(OneRank, GoesOverEachBlockOnce) {
  for (auto& v : visits) v = 0;
  cluster::run<visit_all>(3);
  for (auto const& v : visits) EXPECT_EQ(v.load(), 3);
}

long keep_words() {
  cluster::checkpoint("words", 7, std::string("seven"));
  cluster::checkpoint("words", 6, std::string("six"));
  cluster::checkpoint("size", 1, Size(3));
  auto const last = cluster::last_checkpoint<std::string>("words");
  if (!last || last->value != "seven" || cluster::last_checkpoint<Size>("size")->value != Size(3)) return -1;
  if (cluster::last_checkpoint<int>("none")) return -1;
  cluster::forget_checkpoint("size");
  return cluster::last_checkpoint<Size>("size") ? -1 : last->step;
}
long last_words() { return cluster::last_checkpoint<std::string>("words")->step; }
void take_words_for_a_number() { static_cast<void>(cluster::last_checkpoint<int>("words")); }
void keep_a_long_name() { cluster::checkpoint(std::string(256, 'n'), 1, 1); }

TEST_F(OneRank, GoesOverBlocksWithCopiesOfViews) {
  for (auto& v : visits) v = 0;
  cluster::run<visit_by_views>();
  for (auto const& v : visits) EXPECT_EQ(v.load(), 3);
}

TEST_F(OneRank, KeepsCheckpointsAsLongAsItLasts) {
  EXPECT_EQ(cluster::run<keep_words>(), 7);
  EXPECT_EQ(cluster::run<last_words>(), 7);
}

TEST_F(OneRank, SaysWhatIsWrongWithACheckpoint) {
  EXPECT_EQ(cluster::run<keep_words>(), 7);
  EXPECT_THAT([] { cluster::run<take_words_for_a_number>(); },
              testing::ThrowsMessage<cluster::remote_error>("checkpoint \"words\" is a value of another type"));
  EXPECT_THAT([] { cluster::run<keep_a_long_name>(); },
              testing::ThrowsMessage<cluster::remote_error>(testing::EndsWith("...\": a name of 256 bytes; at most 255")));
  EXPECT_THAT([] { cluster::checkpoint("words", 8, 8); },
              testing::ThrowsMessage<std::logic_error>("checkpoint \"words\": called outside the tasks of a session"));
}

std::atomic<bool> is_running{false}, may_end{false};
void waits_for_the_test() {
  is_running = true;
  while (!may_end) std::this_thread::yield();
}

TEST_F(OneRank, RefusesASecondRunAtOnce) {
  std::thread first([] { cluster::run<waits_for_the_test>(); });
  while (!is_running) std::this_thread::yield();
  EXPECT_THROW(cluster::run<fib>(2), std::logic_error);
  may_end = true;
  first.join();
  EXPECT_EQ(cluster::run<fib>(10), 55);
}

TEST_F(OneRank, HasSectionsThatNest) {
  {
    cluster::mpi_section const outer, inner;
    EXPECT_THROW(cluster::run<fib>(2), std::logic_error);
    EXPECT_EQ(here.counters().ranks_lost, 0u);
    EXPECT_EQ(here.working().size(), 1u);
  }
  EXPECT_EQ(cluster::run<fib>(10), 55);
}

int keeps_in_a_section() {
  cluster::mpi_section const inside;
  EXPECT_THROW(cluster::checkpoint("words", 8, 8), std::logic_error);
  return 1;
}

TEST_F(OneRank, RefusesCheckpointsInSections) { EXPECT_EQ(cluster::run<keeps_in_a_section>(), 1); }

TEST_F(OneRank, RefusesCheckpointsOfItsWorkersOutsideRuns) {
  here.workers().run([] {
    EXPECT_THROW(cluster::checkpoint("words", 8, 8), std::logic_error);
    EXPECT_THROW(cluster::spawn_free<throwing_free>(1), std::runtime_error);
  });
  EXPECT_EQ(cluster::run<fib>(10), 55);
}

TEST(Blocks, KnowTheirLastOneNearTheLargestIndex) {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  static_assert(cluster::blocks{10, 100, most}.part(0, 1).last == 100);
  static_assert(cluster::blocks{most - 10, most, 7}.part(1, 2).last == most);
  static_assert(cluster::blocks{0, most, most / 2 + 1}.part(1, 2).last == most);
}

TEST_F(OneRank, IsTheOnlySession) {
  EXPECT_THROW(cluster::session(std::make_unique<Alone>()), std::logic_error);
}

TEST(NoSession, CallsFunctionsAtOnce) {
  EXPECT_EQ(fib(10), 55);
  EXPECT_THROW(throwing(2), std::runtime_error);
  EXPECT_THROW(cluster::run<fib>(2), std::logic_error);
}

TEST(Session, MayEndInsideASection) {
  auto first = std::make_unique<cluster::session>(std::make_unique<Alone>(), with_workers(1));
  {
    cluster::mpi_section const inside;
    first.reset();
  }
  cluster::session next(std::make_unique<Alone>(), with_workers(1));
  EXPECT_EQ(cluster::run<fib>(10), 55);
}

TEST(Session, WaitsAtItsEndForSectionsOfOtherThreads) {
  enum Section { not_begun, open, ending };
  struct Network : Alone {
    std::atomic<Section> const& section;
    explicit Network(std::atomic<Section> const& of) : section(of) {}
    bool finish_unless(std::function<bool()> const&) override {
      EXPECT_EQ(section, ending);
      return true;
    }
  };
  for (int round = 0; round < 2; ++round) {
    std::atomic<Section> section = not_begun;
    cluster::session const here(std::make_unique<Network>(section), with_workers(1));
    EXPECT_EQ(cluster::run<fib>(10), 55);
    std::thread([&section] {
      cluster::mpi_section const inside;
      section = open;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      section = ending;
    }).detach();
    while (section == not_begun) std::this_thread::yield();
  }
}

// Its messages would be those of the parent's rank.
TEST(Session, SaysNothingInAChildOfFork) {
  struct Network : Alone {
    pid_t const mine = getpid();
    bool finish_unless(std::function<bool()> const&) override {
      if (getpid() != mine) _exit(1);
      return true;
    }
  };
  auto here = std::make_unique<cluster::session>(std::make_unique<Network>(), with_workers(1));
  EXPECT_EQ(cluster::run<fib>(10), 55);
  auto const child = fork();
  if (child == 0) {
    try {
      cluster::run<fib>(2);
      _exit(2);
    } catch (std::logic_error const&) {
      here.reset();
      _exit(0);
    }
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cluster::run<fib>(10), 55);
}

TEST(Session, BoundsWhatWaits) {
  auto options = with_workers(1);
  options.workers.task_capacity = 4;
  cluster::session here(std::make_unique<Alone>(), options);
  EXPECT_EQ(cluster::run<fib>(15), 610);
}

TEST(Session, KeepsCountsOfTasks) {
  auto options = with_workers(1);
  options.workers.count_tasks = true;
  cluster::session here(std::make_unique<Alone>(), options);
  EXPECT_EQ(cluster::run<fib>(10), 55);
  EXPECT_EQ(here.workers().counters()[0].forked, 88u);
}

}  // namespace
