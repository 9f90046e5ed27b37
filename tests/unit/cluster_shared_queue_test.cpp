// SPDX-License-Identifier: Apache-2.0
// Shared-memory steal queues between threads, and between processes of which one is killed.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "cluster/shared_segment.hpp"

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
std::size_t visit(SharedSegment& segment, std::uint64_t& sum) {
  std::array<Descriptor, most_from_queue> got;
  std::size_t n = 0;
  if (segment.queue.take(got, n, run, half) != Take::taken) return 0;
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

TEST(SharedStealQueue, IsBounded) {
  SharedStealQueue<int, 4> queue;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.put(i, run));
  EXPECT_FALSE(queue.put(4, run));
  std::array<int, 2> out{};
  std::size_t n = 0;
  EXPECT_EQ(queue.take(out, n, run, [](std::size_t seen) { return seen; }), Take::taken);
  EXPECT_EQ(n, 2u);
  EXPECT_EQ(out[1], 1);
  EXPECT_TRUE(queue.put(4, run));
  EXPECT_EQ(queue.take(out, n, run + 1, half), Take::empty) << "they are of another run";
}

TEST(SharedStealQueue, GivesEachTaskOnceToManyThreads) {
  constexpr std::uint64_t tasks = 20'000;
  auto const segment = std::make_unique<SharedSegment>();
  nigh::sync::atomic<std::uint64_t> left{tasks}, total{0};
  auto const rob = [&] {
    std::uint64_t sum = 0;
    while (left.load(nigh::sync::relaxed) > 0) {
      auto const n = visit(*segment, sum);
      left.fetch_sub(n, nigh::sync::relaxed);
      if (n == 0) std::this_thread::yield();
    }
    total.fetch_add(sum, nigh::sync::relaxed);
  };
  std::vector<std::thread> thieves;
  for (int t = 0; t < 2; ++t) thieves.emplace_back(rob);
  std::uint64_t sum = 0;
  for (std::uint64_t n = 0; n < tasks;) {
    if (segment->queue.put(numbered(n), run)) {
      ++n;
    } else {
      left.fetch_sub(visit(*segment, sum), nigh::sync::relaxed);  // the owner takes some back
      std::this_thread::yield();
    }
  }
  for (auto& t : thieves) t.join();
  EXPECT_EQ(total.load(nigh::sync::relaxed) + sum, tasks * (tasks - 1) / 2);
  EXPECT_TRUE(segment->queue.is_empty());
}

// The segments go on after a thief died at any point: they never wait for it.
TEST(SharedStealQueue, DoesNotHangWithARankThatIsKilled) {
  for (int round = 0; round < 20; ++round) {
    void* const memory = mmap(nullptr, sizeof(SharedSegment), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto& segment = *::new (memory) SharedSegment;
    auto const thief = fork();
    ASSERT_GE(thief, 0);
    if (thief == 0) {
      std::array<Descriptor, most_from_queue> got;
      for (std::size_t n = 0;;) static_cast<void>(segment.queue.take(got, n, run, half));
    }
    std::uint64_t sum = 0;
    std::uint64_t n = 0;
    for (int step = 0; step < 20'000; ++step) {
      if (step == 200 * (round + 1)) {
        ASSERT_EQ(kill(thief, SIGKILL), 0);
      }
      if (segment.queue.put(numbered(n), run)) ++n;
      if (step % 3 == 0) visit(segment, sum);
    }
    int status = 0;
    ASSERT_EQ(waitpid(thief, &status, 0), thief);
    EXPECT_TRUE(WIFSIGNALED(status));
    munmap(memory, sizeof(SharedSegment));
  }
}

}  // namespace
