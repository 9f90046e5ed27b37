// SPDX-License-Identifier: Apache-2.0
// The refusals of nigh.h, and their words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nigh/nigh.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "c_queues.hpp"

namespace {

using namespace nigh::tests;
using testing::HasSubstr, testing::Not;

TEST(CApiRefusal, RefusesMisuse) {
  auto const queue = queue_of(1);
  int x = 0;
  EXPECT_EQ(nigh_put(nullptr, add_one, nullptr, 0, nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_STREQ(nigh_error(), "nigh_put: the queue is NULL");
  EXPECT_EQ(nigh_put(queue.get(), nullptr, &x, sizeof x, nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_STREQ(nigh_error(), "nigh_put: the function is NULL");
  EXPECT_EQ(nigh_put(queue.get(), add_one, nullptr, 4, nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_STREQ(nigh_error(), "nigh_put: the input is NULL, but not of 0 bytes");
  EXPECT_EQ(nigh_run(nullptr, add_one, nullptr, 0, nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_EQ(nigh_run(queue.get(), nullptr, nullptr, 0, nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_EQ(nigh_wait(nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_EQ(nigh_execute(nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_EQ(nigh_steal(nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_EQ(nigh_is_empty(nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_EQ(nigh_workers(nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_EQ(nigh_read_counters(queue.get(), nullptr), NIGH_BAD_ARGUMENT);
  EXPECT_EQ(nigh_task_queue_free(nullptr), NIGH_OK);
  EXPECT_EQ(nigh_wait(queue.get()), NIGH_OK);  // for nothing
  EXPECT_EQ(nigh_worker_index(), -1);
}

TEST(CApiRefusal, RefusesOptionsThatMakeNoSense) {
  auto const refused = [](auto change) {
    auto o = four_workers();
    change(o);
    EXPECT_EQ(nigh_task_queue_allocate(&o), nullptr);
    return std::string(nigh_error());
  };
  EXPECT_THAT(refused([](auto& o) { o.size = 0; }), HasSubstr("size is 0"));
  EXPECT_THAT(refused([](auto& o) { o.size = SIZE_MAX; }), HasSubstr("size is 18"));
  EXPECT_EQ(refused([](auto& o) { o.workers = 5000; }),
            "nigh_task_queue_allocate: workers: 5000 workers, more than 1024");
  EXPECT_THAT(refused([](auto& o) { o.workers = -1; }), HasSubstr("workers: -1 is negative"));
  EXPECT_THAT(refused([](auto& o) { o.victims = 3; }), HasSubstr("victims is 3"));
  EXPECT_THAT(refused([](auto& o) { o.chunks = -1; }), HasSubstr("chunks is -1"));
  EXPECT_THAT(refused([](auto& o) { o.task_capacity = SIZE_MAX; }), HasSubstr("task_capacity"));
  EXPECT_THAT(refused([](auto& o) { o.depth_cutoff = -1; }), HasSubstr("depth_cutoff"));
  EXPECT_THAT(refused([](auto& o) { o.synthetic = "nonsense"; }), HasSubstr("synthetic"));
  EXPECT_THAT(refused([](auto& o) { o.synthetic = "non\nsense"; }), Not(HasSubstr("\n")));
}

// An older program's struct is shorter; a newer one's is longer, and its new fields must be unset.
TEST(CApiRefusal, OptionsGrow) {
  auto older = four_workers();
  older.size = offsetof(nigh_options, victims);
  older.victims = 77;
  older.synthetic = nullptr;
  older.workers = 1;
  made(older);

  struct {
    nigh_options known;
    long added;
  } newer{four_workers(), 0};
  newer.known.size = sizeof newer;
  made(newer.known);
  newer.added = 1;
  EXPECT_EQ(nigh_task_queue_allocate(&newer.known), nullptr);
  EXPECT_THAT(nigh_error(), HasSubstr("does not know"));
}

TEST(CApiRefusal, RefusesToFreeWithLiveTasks) {
  auto const queue = queue_of(1);
  Gate gate;
  Gate* const at = &gate;
  nigh_put(queue.get(), pass, &at, sizeof at, nullptr);
  EXPECT_EQ(nigh_task_queue_free(queue.get()), NIGH_BUSY);
  EXPECT_THAT(nigh_error(), HasSubstr("not finished"));
  gate.open = true;
  nigh_wait(queue.get());
  struct Suicide {
    static void free(void const* in, void* out) {
      *static_cast<int*>(out) = nigh_task_queue_free(as<nigh_task_queue*>(in));
    }
  };
  auto* const itself = queue.get();
  int status = 0;
  nigh_run(itself, Suicide::free, static_cast<void const*>(&itself), sizeof itself, &status);
  EXPECT_EQ(status, NIGH_BUSY);
}

TEST(CApiRefusal, MoreExternalThreadsThanSlots) {
  auto const queue = queue_of(1);
  std::atomic<int> ran{0}, have_put{0};
  std::atomic<bool> go{false};
  constexpr int threads = 70, each = 5;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < each; ++i) nigh_put(queue.get(), add_one, nullptr, 0, &ran);
      ++have_put;
      while (!go) std::this_thread::yield();
      nigh_wait(queue.get());
    });
  while (have_put < threads) std::this_thread::yield();
  EXPECT_GE(counters(queue).serialized, 6u * each);
  go = true;
  for (auto& t : all) t.join();
  EXPECT_EQ(ran, threads * each);
}

TEST(CApiRefusal, RefusesAParentsQueue) {
  auto const queue = queue_of(1);
  std::atomic<int> ran{0};
  nigh_put(queue.get(), add_one, nullptr, 0, &ran);
  pid_t const child = fork();
  if (child == 0) {
    bool right = nigh_put(queue.get(), add_one, nullptr, 0, &ran) == NIGH_FORKED &&
                 std::strstr(nigh_error(), "fork()") != nullptr &&
                 nigh_wait(queue.get()) == NIGH_FORKED;
    auto* const own = nigh_task_queue_allocate(nullptr);
    ran = 0;
    right = right && own != nullptr && nigh_put(own, add_one, nullptr, 0, &ran) == NIGH_OK &&
            nigh_wait(own) == NIGH_OK && ran == 1 && nigh_task_queue_free(own) == NIGH_OK;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  nigh_wait(queue.get());
}

}  // namespace
