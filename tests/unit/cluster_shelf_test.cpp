// SPDX-License-Identifier: Apache-2.0
// Shelves between threads, and between processes of which one is killed.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "cluster/neighbours.hpp"

namespace {

using namespace nigh::cluster;

constexpr std::uint32_t run = 1;

Descriptor numbered(std::uint64_t n) {
  Task task;
  task.token = n;
  task.function = static_cast<std::uint32_t>(n);
  task.input.assign(n % (Descriptor::most_input + 1), static_cast<std::byte>(n));
  return Descriptor(task);
}

bool is_whole(Descriptor const& d) {
  auto const task = d.task();
  return task.function == static_cast<std::uint32_t>(task.token) &&
         task.input ==
             bytes(task.token % (Descriptor::most_input + 1), static_cast<std::byte>(task.token));
}

constexpr auto half = [](std::size_t seen) { return seen - seen / 2; };

// Returns how many came; adds their numbers up.
std::size_t visit(Board& board, std::uint64_t& sum) {
  std::array<Descriptor, most_from_shelf> got;
  std::size_t n = 0;
  if (board.shelf.take(got, n, run, half) != Take::taken) return 0;
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_TRUE(is_whole(got[i])) << got[i].token;
    sum += got[i].token;
  }
  return n;
}

TEST(Descriptor, CarriesWhatFits) {
  Task task{7, 3, 0x1234567890, false, bytes(Descriptor::most_input, std::byte{9})};
  EXPECT_TRUE(Descriptor::fits(task));
  auto const back = Descriptor(task).task();
  EXPECT_EQ(back.function, 7u);
  EXPECT_EQ(back.owner, 3);
  EXPECT_EQ(back.token, 0x1234567890u);
  EXPECT_EQ(back.input, task.input);
  task.input.push_back({});
  EXPECT_FALSE(Descriptor::fits(task));
}

TEST(Shelf, IsBounded) {
  Shelf<int, 4> shelf;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(shelf.put(i, run));
  EXPECT_FALSE(shelf.put(4, run));
  std::array<int, 2> out{};
  std::size_t n = 0;
  EXPECT_EQ(shelf.take(out, n, run, [](std::size_t seen) { return seen; }), Take::taken);
  EXPECT_EQ(n, 2u);
  EXPECT_EQ(out[1], 1);
  EXPECT_TRUE(shelf.put(4, run));
  EXPECT_EQ(shelf.take(out, n, run + 1, half), Take::empty) << "they are of another run";
}

TEST(Shelf, GivesEachTaskOnceToManyThreads) {
  constexpr std::uint64_t tasks = 20'000;
  auto const board = std::make_unique<Board>();
  nigh::sync::atomic<std::uint64_t> left{tasks}, total{0};
  auto const rob = [&] {
    std::uint64_t sum = 0;
    while (left.load(nigh::sync::relaxed) > 0) {
      auto const n = visit(*board, sum);
      left.fetch_sub(n, nigh::sync::relaxed);
      if (n == 0) std::this_thread::yield();
    }
    total.fetch_add(sum, nigh::sync::relaxed);
  };
  std::vector<std::thread> thieves;
  for (int t = 0; t < 2; ++t) thieves.emplace_back(rob);
  std::uint64_t sum = 0;
  for (std::uint64_t n = 0; n < tasks;) {
    if (board->shelf.put(numbered(n), run)) {
      ++n;
    } else {
      left.fetch_sub(visit(*board, sum), nigh::sync::relaxed);  // the owner takes some back
      std::this_thread::yield();
    }
  }
  for (auto& t : thieves) t.join();
  EXPECT_EQ(total.load(nigh::sync::relaxed) + sum, tasks * (tasks - 1) / 2);
  EXPECT_TRUE(board->shelf.is_empty());
}

// Whatever the thief was about when it died, its neighbours go on: they never wait for it.
TEST(Shelf, DoesNotHangWithARankThatIsKilled) {
  for (int round = 0; round < 20; ++round) {
    void* const memory =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto& board = *::new (memory) Board;
    auto const thief = fork();
    ASSERT_GE(thief, 0);
    if (thief == 0) {
      std::array<Descriptor, most_from_shelf> got;
      for (std::size_t n = 0;;) static_cast<void>(board.shelf.take(got, n, run, half));
    }
    std::uint64_t sum = 0;
    std::uint64_t n = 0;
    for (int step = 0; step < 20'000; ++step) {
      if (step == 200 * (round + 1)) {
        ASSERT_EQ(kill(thief, SIGKILL), 0);
      }
      if (board.shelf.put(numbered(n), run)) ++n;
      if (step % 3 == 0) visit(board, sum);
    }
    int status = 0;
    ASSERT_EQ(waitpid(thief, &status, 0), thief);
    EXPECT_TRUE(WIFSIGNALED(status));
    munmap(memory, sizeof(Board));
  }
}

}  // namespace
