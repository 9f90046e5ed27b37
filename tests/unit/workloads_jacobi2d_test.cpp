// SPDX-License-Identifier: Apache-2.0
// Every variant, spread and row schedule against the definition, bit for bit; and many processes,
// with a courier that is a queue.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "jacobi2d/variant.hpp"

namespace jacobi2d {
namespace {

Problem const problems[] = {
    {.blocks = 3, .points = 17, .iterations = 3},
    {.blocks = 2, .points = 520, .iterations = 2},  // more than a strip of columns
    {.blocks = 3, .points = 16, .iterations = 4, .steps = 2},
    {.blocks = 4, .points = 9, .iterations = 3, .steps = 3},
    {.blocks = 3, .points = 17, .iterations = 3, .sends = false},
    {.blocks = 1, .points = 40, .iterations = 3},
    {.blocks = 5, .points = 1, .iterations = 3},
};

std::uint64_t solved(Variant& variant, Problem const& problem, Kernel const& kernel) {
  Blocks blocks(problem, kernel, nullptr);
  fill(variant, blocks);
  iterate(variant, blocks, problem.iterations);
  return checksum(variant, blocks);
}

// Of a machine with as many cpus as asked, so nobody is pinned.
Team team_of(int threads, int spread, RowSchedule rows = {}) {
  static nigh::topology const machine =
      nigh::topology::from_synthetic("pack:2 numa:1 core:2 pu:1").value();
  Team team;
  team.machine = &machine;
  team.cpus.assign(static_cast<std::size_t>(threads), 0);
  team.spread = spread;
  team.rows = rows;
  return team;
}

TEST(Jacobi2dReference, IsTheMeanOfFive) {
  Problem const one{.blocks = 1, .points = 1, .iterations = 1};
  double const mean = (initial_value(0, 0) + initial_value(-1, 0) + initial_value(1, 0) +
                       initial_value(0, -1) + initial_value(0, 1)) *
                      0.2;
  EXPECT_EQ(reference_checksum(one), point_checksum(one, 0, 0, mean));
}

TEST(Jacobi2dReference, TellsProblemsApart) {
  std::set<std::uint64_t> sums;
  Problem p{.blocks = 3, .points = 8, .iterations = 4};
  sums.insert(reference_checksum(p));
  p.sends = false;
  sums.insert(reference_checksum(p));
  p.sends = true, p.steps = 2;
  sums.insert(reference_checksum(p));
  p.steps = 1, p.iterations = 8;
  sums.insert(reference_checksum(p));
  EXPECT_EQ(sums.size(), 4U);
}

// How a square is cut is nothing to the field, as long as borders are sent after every step.
TEST(Jacobi2dReference, DoesNotDependOnBlocks) {
  EXPECT_EQ(reference_checksum({.blocks = 1, .points = 24, .iterations = 3}),
            reference_checksum({.blocks = 4, .points = 6, .iterations = 3}));
}

TEST(Jacobi2dProblem, FitsItsShareOfMemory) {
  for (int const blocks : {1, 7, 24}) {
    std::size_t const memory = std::size_t{1} << 28;
    Problem const p{.blocks = blocks, .points = points_for(0.25, memory, blocks)};
    EXPECT_LE(p.bytes(), memory / 4);
    EXPECT_GT(p.bytes(), memory / 5);
  }
  EXPECT_EQ(points_for(1e-9, 1000, 24), 1);
}

TEST(Jacobi2dVariants, EndWithTheDefinitionsBits) {
  for (Problem const& problem : problems) {
    std::uint64_t const expected = reference_checksum(problem);
    for (VariantInfo const& info : variants()) {
      if (info.make == nullptr) continue;
      for (int const threads : {1, 3})
        for (int spread = 1; spread <= (info.by_spread ? threads : 1); ++spread) {
          auto const variant = info.make(team_of(threads, spread));
          EXPECT_EQ(solved(*variant, problem, *find_kernel("")), expected)
              << info.name << ", " << threads << " threads, spread " << spread << ", blocks of "
              << problem.points;
        }
    }
  }
}

TEST(Jacobi2dVariants, DivideRowsAsTheyAreTold) {
  Problem const& problem = problems[1];
  std::uint64_t const expected = reference_checksum(problem);
  for (VariantInfo const& info : variants()) {
    if (info.make == nullptr || !info.by_rows) continue;
    for (RowSchedule const rows :
         {RowSchedule{1}, RowSchedule{16}, RowSchedule{512}, RowSchedule{0, true}}) {
      auto const variant = info.make(team_of(2, 2, rows));
      EXPECT_EQ(solved(*variant, problem, *find_kernel("")), expected) << info.name << rows.chunk;
    }
  }
}

TEST(Jacobi2dKernels, AgreeBitForBit) {
  auto const serial = find_variant("serial")->make(team_of(1, 1));
  for (Kernel const& kernel : kernels())
    for (Problem const& problem : problems)
      EXPECT_EQ(solved(*serial, problem, kernel), reference_checksum(problem)) << kernel.isa;
}

TEST(Jacobi2dVariants, HaveNames) {
  EXPECT_EQ(find_variant("fastest"), nullptr);
  EXPECT_NE(find_variant("nigh/tasks"), nullptr);
  EXPECT_NE(find_variant("openmp/nested"), nullptr);
}

// Processes of one program: what is sent is there when the receiver finishes.
class Post {
 public:
  using Address = std::tuple<int, int, int>;  // from, to, tag
  std::map<Address, std::pair<double const*, int>> letters;
};

class QueuedCourier : public Courier {
 public:
  QueuedCourier(Post& post, int rank) : post_(post), rank_(rank) {}
  void expect(int rank, int tag, double* to, int doubles) noexcept override {
    expected_.push_back({{rank, rank_, tag}, to, doubles});
  }
  void send(int rank, int tag, double const* from, int doubles) noexcept override {
    EXPECT_TRUE(
        post_.letters.emplace(Post::Address{rank_, rank, tag}, std::pair{from, doubles}).second);
  }
  void progress() noexcept override { ++chances; }
  void finish() noexcept override {}
  int chances = 0;
  void deliver() {
    for (auto const& [address, to, doubles] : expected_) {
      auto const letter = post_.letters.extract(address);
      ASSERT_FALSE(letter.empty());
      ASSERT_EQ(letter.mapped().second, doubles);
      std::copy_n(letter.mapped().first, doubles, to);
    }
    expected_.clear();
  }

 private:
  struct Expected {
    Post::Address address;
    double* to;
    int doubles;
  };
  Post& post_;
  int rank_;
  std::vector<Expected> expected_;
};

TEST(Jacobi2dParts, OfManyProcessesAreTheWhole) {
  for (int const ranks : {2, 3, 4}) {
    Problem const problem{.blocks = 4, .points = 9, .iterations = 4, .steps = 2};
    auto const serial = find_variant("serial")->make(team_of(1, 1));
    Post post;
    std::vector<std::unique_ptr<QueuedCourier>> couriers;
    std::vector<std::unique_ptr<Blocks>> parts;
    for (int rank = 0; rank < ranks; ++rank) {
      couriers.push_back(std::make_unique<QueuedCourier>(post, rank));
      parts.push_back(std::make_unique<Blocks>(problem, *find_kernel(""), nullptr,
                                               Part{rank, ranks}, couriers.back().get()));
      fill(*serial, *parts.back());
    }
    for (int i = 0; i < problem.iterations; ++i) {
      for (auto const& part : parts) iterate(*serial, *part, 1);
      for (std::size_t rank = 0; rank < couriers.size(); ++rank) {
        couriers[rank]->deliver();
        EXPECT_EQ(couriers[rank]->chances, parts[rank]->count() * (i + 1));
      }
      EXPECT_TRUE(post.letters.empty());
    }
    std::uint64_t sum = 0;
    for (auto const& part : parts) sum += checksum(*serial, *part);
    EXPECT_EQ(sum, reference_checksum(problem)) << ranks;
  }
}

}  // namespace
}  // namespace jacobi2d
