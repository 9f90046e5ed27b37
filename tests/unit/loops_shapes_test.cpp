// SPDX-License-Identifier: Apache-2.0
// Loops over boxes and over the blocks of placed arrays.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nigh::box;
using nigh::parallel_for;

nigh::topology const& four_cpus() {
  static auto const one = nigh::topology::from_synthetic("pack:2 numa:1 core:2 pu:1").value();
  return one;
}

class Shapes : public testing::TestWithParam<char const*> {
 protected:
  nigh::runtime runtime{[] {
    nigh::runtime_options options;
    options.machine = &four_cpus();
    return options;
  }()};
  nigh::loop_options options() {
    nigh::loop_options o;
    o.how = nigh::parse_schedule(GetParam()).value();
    o.where = &runtime;
    return o;
  }
};

// All boxes with sides up to three and some offset, and some with longer ones.
std::vector<box<3>> boxes() {
  std::vector<box<3>> all;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b)
      for (std::size_t c = 0; c < 4; ++c) all.push_back({{1, 2, 3}, {1 + a, 2 + b, 3 + c}});
  all.push_back({{0, 0, 0}, {1, 1, 100}});
  all.push_back({{0, 0, 0}, {100, 1, 1}});
  all.push_back({{5, 0, 7}, {16, 13, 24}});
  return all;
}

TEST_P(Shapes, CallTheBodyForEveryElement) {
  for (auto const& b : boxes()) {
    std::vector<std::atomic<int>> calls(20 * 20 * 120);
    auto const count = [&](std::size_t i, std::size_t j, std::size_t k) {
      calls[((i % 20) * 20 + j) * 120 + k].fetch_add(1);
      EXPECT_TRUE(i >= b.begin[0] && i < b.end[0] && j >= b.begin[1] && j < b.end[1] &&
                  k >= b.begin[2] && k < b.end[2]);
    };
    if (b.end[0] > 20) continue;
    parallel_for(b, count, options());
    parallel_for(
        b,
        [&](box<3> const& part) {
          EXPECT_EQ(part.begin[2], b.begin[2]);  // whole rows
          EXPECT_EQ(part.end[2], b.end[2]);
          for (auto i = part.begin[0]; i < part.end[0]; ++i)
            for (auto j = part.begin[1]; j < part.end[1]; ++j)
              for (auto k = part.begin[2]; k < part.end[2]; ++k) count(i, j, k);
        },
        options());
    std::size_t sum = 0;
    for (auto const& c : calls) {
      ASSERT_TRUE(c == 0 || c == 2);
      sum += static_cast<std::size_t>(c.load());
    }
    EXPECT_EQ(sum, 2 * b.size(0) * b.size(1) * b.size(2));
  }
}

TEST_P(Shapes, OneAndTwoDimensions) {
  std::atomic<std::size_t> sum{0};
  parallel_for(box<1>{{10}, {20}}, [&](std::size_t i) { sum += i; }, options());
  EXPECT_EQ(sum.load(), 145u);
  parallel_for(box<1>{{10}, {20}}, [&](box<1> const& b) { sum += b.size(0); }, options());
  EXPECT_EQ(sum.load(), 155u);
  sum = 0;
  parallel_for(
      box<2>{{1, 1}, {4, 5}}, [&](std::size_t i, std::size_t j) { sum += 10 * i + j; }, options());
  EXPECT_EQ(sum.load(), 10u * (1 + 2 + 3) * 4 + 3u * (1 + 2 + 3 + 4));
}

TEST_P(Shapes, LeaveEarly) {
  std::atomic<int> calls{0};
  parallel_for(
      box<3>{{0, 0, 0}, {100, 100, 100}},
      [&](std::size_t, std::size_t, std::size_t) {
        ++calls;
        return nigh::loop_flow::leave;
      },
      options());
  EXPECT_GE(calls.load(), 1);
  EXPECT_LE(calls.load(), 5);
}

TEST_P(Shapes, BlocksOfAnArrayCoverIt) {
  nigh::array_options where;
  where.machine = &four_cpus();
  for (auto const rule : {nigh::placement::first_touch(), nigh::placement::blocked(),
                          nigh::placement::cyclic(3000), nigh::placement::interleave()})
    for (std::size_t n : {1u, 511u, 512u, 10'000u, 100'000u}) {
      nigh::array<double> a(n, rule, where);
      auto const visit = [&](std::span<double> block, std::size_t first) {
        EXPECT_EQ(block.data(), a.data() + first);
        EXPECT_EQ(first % 512, 0u);
        for (double& x : block) x += 1;
      };
      parallel_for(nigh::blocks_of(a, 512), visit, options());
      nigh::loop_options placed;
      placed.where = &runtime;
      parallel_for(nigh::blocks_of(a, 512), visit, placed);  // as the array lies
      for (double const x : a) ASSERT_EQ(x, 2.0);
    }
}

INSTANTIATE_TEST_SUITE_P(Schedules, Shapes,
                         testing::Values("static", "static,3", "dynamic,2", "guided", "adaptive",
                                         "local"));

// An array of another machine's placement: iterations are where its elements are.
TEST(LocalSchedule, FollowsTheArray) {
  nigh::runtime_options o;
  o.machine = &four_cpus();
  nigh::runtime runtime(o);
  nigh::array_options where;
  where.machine = &four_cpus();
  std::size_t const n = 64 * 512;
  for (auto const rule : {nigh::placement::blocked(), nigh::placement::cyclic(4 * 512),
                          nigh::placement::interleave()}) {
    nigh::array<double> const a(n, rule, where);
    auto const how = nigh::local_schedule(a, 512);
    ASSERT_NE(how.map(), nullptr);
    // Each worker takes a first piece and waits for the others: nothing has been stolen yet.
    std::atomic<int> here{0};
    std::atomic<int> astray{0};
    runtime.run([&] {
      parallel_for(
          std::size_t{0}, n / 512,
          [&](nigh::index_range r) {
            if (here.fetch_add(1) < 4)
              for (auto i = r.begin; i < r.end; ++i)
                if (a.domain_of(i * 512) != nigh::this_worker::domain()) ++astray;
            while (here.load() < 4) {
            }
          },
          how);
    });
    EXPECT_EQ(astray.load(), 0);
  }
}

TEST(LocalSchedule, HasNoMapWhereThereIsNothingToGoBy) {
  nigh::array_options where;
  where.machine = &four_cpus();
  EXPECT_EQ(nigh::local_schedule(nigh::array<int>(100'000)).map(), nullptr);
  EXPECT_EQ(nigh::local_schedule(nigh::array<int>()).map(), nullptr);
  EXPECT_EQ(
      nigh::local_schedule(nigh::array<int>(100, nigh::placement::blocked(), where), 0).kind(),
      nigh::schedule_kind::local);
}

TEST(Boxes, MayBeEmptyHoweverLarge) {
  auto const most = std::numeric_limits<std::size_t>::max();
  parallel_for(box<3>{{0, 0, 3}, {most, most, 3}},
               [](std::size_t, std::size_t, std::size_t) { FAIL(); });
  parallel_for(box<2>{{0, 0}, {0, most}}, [](box<2> const&) { FAIL(); });
}

TEST(BoxRefusals, OfMoreElementsThanCanBeCounted) {
  auto const most = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(parallel_for(box<2>{{0, 0}, {most, 2}}, [](std::size_t, std::size_t) {}),
               std::invalid_argument);
}

}  // namespace
