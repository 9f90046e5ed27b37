// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <nigh/blocking_scope.hpp>
#include <nigh/parallel_pipeline.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "everywhere.hpp"

namespace {

using nigh::parallel_pipeline;
using nigh::runtime;
using nigh::tests::four_by_two;
using nigh::stage;
using nigh::stage_mode;

// And where all tasks run inline.
template <class Body>
void in_pipelines_everywhere(Body body) {
  nigh::tests::everywhere_and({.task_capacity = 1, .depth_cutoff = 1}, body);
}

auto numbers(int count) {
  return
      [next = 0, count]() mutable { return next < count ? std::optional(next++) : std::nullopt; };
}

constexpr stage_mode all_modes[] = {stage_mode::parallel, stage_mode::serial_in_order,
                                    stage_mode::serial_out_of_order};

// All modes of two middle stages and a last one, with few tokens and many: each item comes once,
// serial stages are called once at a time, and those in order see the items in order.
TEST(Pipeline, TakesEachItemThroughAllStages) {
  in_pipelines_everywhere([] {
    constexpr int count = 60;
    for (std::size_t const tokens : {std::size_t{1}, std::size_t{3}, std::size_t{64}})
      for (auto const first : all_modes)
        for (auto const second : all_modes)
          for (auto const last : all_modes) {
            std::atomic<int> inside[3]{};
            std::atomic<int> under_way{0}, most{0};
            std::vector<std::atomic<int>> seen(count);
            int expected[3]{};
            auto const enter = [&](int s, stage_mode mode, int value) {
              int const n = ++inside[s];
              if (mode == stage_mode::parallel) return;
              EXPECT_EQ(n, 1);
              if (mode == stage_mode::serial_in_order) {
                EXPECT_EQ(value, expected[s]++);
              }
            };
            parallel_pipeline(tokens,
                              stage(stage_mode::serial_in_order,
                                    [&, source = numbers(count)]() mutable {
                                      auto got = source();
                                      if (got) {
                                        int const n = ++under_way;
                                        for (int m = most;
                                             n > m && !most.compare_exchange_weak(m, n);) {
                                        }
                                      }
                                      return got;
                                    }),
                              stage(first,
                                    [&](int v) {
                                      enter(0, first, v);
                                      if (v % 20 == 7) std::this_thread::yield();
                                      --inside[0];
                                      return std::make_unique<int>(v * 2);
                                    }),
                              stage(second,
                                    [&](std::unique_ptr<int> v) {
                                      enter(1, second, *v / 2);
                                      if (*v % 30 == 6) std::this_thread::yield();
                                      --inside[1];
                                      return std::to_string(*v / 2);
                                    }),
                              stage(last, [&](std::string const& text) {
                                int const v = std::stoi(text);
                                enter(2, last, v);
                                ++seen[static_cast<std::size_t>(v)];
                                --under_way;
                                --inside[2];
                              }));
            EXPECT_TRUE(
                std::all_of(seen.begin(), seen.end(), [](auto const& n) { return n == 1; }));
            EXPECT_LE(most, static_cast<int>(tokens));
          }
  });
}

TEST(Pipeline, TheFirstStageMayBeParallel) {
  in_pipelines_everywhere([] {
    std::atomic<int> next{0}, calls{0};
    std::vector<int> got;
    parallel_pipeline(8,
                      stage(stage_mode::parallel,
                            [&] {
                              ++calls;
                              int const v = next++;
                              return v < 1000 ? std::optional(v) : std::nullopt;
                            }),
                      stage(stage_mode::serial_out_of_order, [&](int v) { got.push_back(v); }));
    EXPECT_EQ(got.size(), 1000u);
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got.back(), 999);
    EXPECT_EQ(std::unique(got.begin(), got.end()), got.end());
    EXPECT_LE(calls, 1008);
  });
}

// As many items as a stack would not bear one on top of another.
TEST(Pipeline, TakesNoStackForManyItems) {
  in_pipelines_everywhere([] {
    long sum = 0;
    constexpr int count = 30'000;
    parallel_pipeline(3, stage(stage_mode::serial_in_order, numbers(count)),
                      stage(stage_mode::parallel, [](int v) { return v + 1; }),
                      stage(stage_mode::serial_in_order, [&](int v) { sum += v; }));
    EXPECT_EQ(sum, long{count} * (count + 1) / 2);
  });
}

// Items pass a slow one where stages allow it, so the stage after it is not held up.
TEST(Pipeline, NothingWaitsForASlowItemThatNeedNot) {
  runtime rt({.machine = &four_by_two(), .workers = 3});
  std::atomic<int> passed{0};
  rt.run([&] {
    parallel_pipeline(4, stage(stage_mode::serial_in_order, numbers(20)),
                      stage(stage_mode::parallel,
                            [&](int v) {
                              if (v != 0) return v;
                              while (passed < 19) std::this_thread::yield();  // for all others
                              return v;
                            }),
                      stage(stage_mode::serial_out_of_order, [&](int) { ++passed; }));
  });
  EXPECT_EQ(passed, 20);
}

// Two threads fill a stage's turn: while one item is in a serial stage, another one is in the
// other.
TEST(Pipeline, SerialStagesWorkAtTheSameTime) {
  runtime rt({.machine = &four_by_two(), .workers = 2});
  std::atomic<int> in_first{-1}, in_second{-1};
  rt.run([&] {
    parallel_pipeline(2, stage(stage_mode::serial_in_order, numbers(2)),
                      stage(stage_mode::serial_in_order,
                            [&](int v) {
                              in_first = v;
                              while (v == 1 && in_second != 0) std::this_thread::yield();
                              return v;
                            }),
                      stage(stage_mode::serial_in_order, [&](int v) {
                        in_second = v;
                        while (v == 0 && in_first != 1) std::this_thread::yield();
                      }));
  });
  EXPECT_EQ(in_second, 1);
}

TEST(Pipeline, RethrowsWhatAStageThrowsAndDestroysTheItems) {
  in_pipelines_everywhere([] {
    for (int const where : {0, 1, 2, 3}) {
      auto const counted = std::make_shared<int>(0);
      std::vector<int> order;
      auto const at = [where](int s, int v) {
        if (s == where && v == 50) throw std::runtime_error("stage " + std::to_string(s));
      };
      try {
        parallel_pipeline(
            16,
            stage(stage_mode::serial_in_order,
                  [&, next = 0]() mutable -> std::optional<std::pair<int, std::shared_ptr<int>>> {
                    at(0, next);
                    return std::pair(next++, counted);
                  }),
            stage(stage_mode::serial_out_of_order,
                  [&](auto item) {
                    at(1, item.first);
                    return item;
                  }),
            stage(stage_mode::parallel,
                  [&](auto item) {
                    at(2, item.first);
                    return item;
                  }),
            stage(stage_mode::serial_in_order, [&](auto const& item) {
              at(3, item.first);
              order.push_back(item.first);
            }));
        ADD_FAILURE() << "nothing was thrown";
      } catch (std::runtime_error const& e) {
        EXPECT_EQ(e.what(), "stage " + std::to_string(where));
      }
      EXPECT_EQ(counted.use_count(), 1);
      EXPECT_LE(order.size(), 50u);
      for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<int>(i));
    }
  });
}

TEST(Pipeline, EndsEarlyWhenItIsAskedTo) {
  in_pipelines_everywhere([] {
    nigh::task_scope outer;
    int last = -1;
    parallel_pipeline({.tokens = 4, .stop = outer.token()},
                      stage(stage_mode::serial_in_order,
                            [next = 0]() mutable { return std::optional(next++); }),  // never ends
                      stage(stage_mode::serial_in_order, [&](int v) {
                        EXPECT_EQ(v, last + 1);
                        last = v;
                        if (v == 100) outer.request_stop();
                      }));
    EXPECT_EQ(last, 100);
  });
}

TEST(Pipeline, NestsAndTakesARuntime) {
  runtime rt({.machine = &four_by_two(), .workers = 3});
  std::atomic<int> sum{0};
  parallel_pipeline({.tokens = 3, .where = &rt}, stage(stage_mode::serial_in_order, numbers(20)),
                    stage(stage_mode::parallel, [&](int v) {
                      parallel_pipeline(2, stage(stage_mode::serial_out_of_order, numbers(v)),
                                        stage(stage_mode::parallel, [&](int) {
                                          ++sum;
                                          nigh::blocking_scope const blocking;
                                        }));
                    }));
  EXPECT_EQ(sum, 190);
}

TEST(Pipeline, RefusesToWorkWithoutTokens) {
  auto const run = [](std::size_t tokens) {
    parallel_pipeline(tokens, stage(stage_mode::parallel, numbers(1)),
                      stage(stage_mode::parallel, [](int) { ADD_FAILURE(); }));
  };
  EXPECT_THROW(run(0), std::invalid_argument);
  EXPECT_THROW(run((std::size_t{1} << 31) + 1), std::invalid_argument);
}

TEST(Pipeline, AnEmptySourceCallsNothing) {
  parallel_pipeline(4, stage(stage_mode::serial_in_order, numbers(0)),
                    stage(stage_mode::serial_in_order, [](int) { ADD_FAILURE(); }));
}

}  // namespace
