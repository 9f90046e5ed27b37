// SPDX-License-Identifier: Apache-2.0
// Every kernel and every variant against the definition, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "jacobi3d/variant.hpp"

namespace jacobi3d {
namespace {

// Exactly as large as the grid says, so that address sanitizer sees every step beyond.
struct Field {
  struct Free {
    void operator()(double* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<double, Free> memory;

  explicit Field(Grid const& grid) {
    std::size_t const bytes = (grid.elements() * sizeof(double) + 63) / 64 * 64;
    memory.reset(static_cast<double*>(std::aligned_alloc(64, bytes)));
    fill_planes(grid, memory.get(), -1, grid.interior.k + 1);
  }
  double* data() const noexcept { return memory.get(); }
};

struct Shape {
  Extent grid, block;
};

// Sides that blocks do not divide, sides that cache lines do not divide, blocks that cut rows in
// the middle of a line, a row pitch that would be a multiple of 8 lines, single sites.
std::vector<Shape> shapes() {
  return {{{65, 43, 37}, {33, 5, 4}}, {{64, 21, 23}, {64, 10, 10}}, {{56, 12, 13}, {56, 4, 12}},
          {{19, 7, 31}, {5, 3, 31}},  {{8, 8, 8}, {8, 1, 1}},       {{1, 1, 1}, {1, 1, 1}},
          {{3, 50, 11}, {1, 7, 2}}};
}

std::string name_of(Shape const& s) {
  auto const text = [](Extent const& e) {
    return std::to_string(e.i) + "x" + std::to_string(e.j) + "x" + std::to_string(e.k);
  };
  return text(s.grid) + " in blocks of " + text(s.block);
}

Field reference_after(Grid const& grid, int sweeps) {
  Field a(grid);
  Field b(grid);
  for (int n = 0; n < sweeps; ++n) {
    reference_sweep(grid, a.data(), b.data(), 0, grid.interior.k);
    std::swap(a, b);
  }
  return a;
}

TEST(Jacobi3dGrid, RowsStartOnCacheLinesAndSitesDoNotOverlap) {
  for (Shape const& s : shapes()) {
    Grid const grid(s.grid);
    EXPECT_EQ(grid.at(0, 0, 0) % Grid::line, 0);
    EXPECT_EQ(grid.row_pitch % Grid::line, 0);
    EXPECT_NE(grid.row_pitch % (8 * Grid::line), 0);
    EXPECT_EQ(grid.plane_pitch % (2 * Grid::line), Grid::line);
    EXPECT_LT(grid.at(s.grid.i, 0, 0), grid.at(-1, 1, 0));
    EXPECT_LT(grid.at(s.grid.i, s.grid.j, 0), grid.at(-1, -1, 1));
    EXPECT_LT(static_cast<std::size_t>(grid.at(s.grid.i, s.grid.j, s.grid.k)), grid.elements());
  }
}

TEST(Jacobi3dGrid, ChecksumAddsUpInAnyPartsAndSeesOneBit) {
  Grid const grid({19, 7, 31});
  Field field(grid);
  auto const whole = checksum_planes(grid, field.data(), 0, 31);
  EXPECT_EQ(checksum_planes(grid, field.data(), 9, 31) + checksum_planes(grid, field.data(), 0, 9),
            whole);
  Field other(grid);
  EXPECT_EQ(different_sites(grid, field.data(), other.data()), 0U);
  double& site = other.data()[grid.at(18, 6, 30)];
  site = std::nextafter(site, 2.0);
  EXPECT_NE(checksum_planes(grid, other.data(), 0, 31), whole);
  EXPECT_EQ(different_sites(grid, field.data(), other.data()), 1U);
  std::swap(field.data()[grid.at(3, 2, 1)], field.data()[grid.at(4, 2, 1)]);
  EXPECT_NE(checksum_planes(grid, field.data(), 0, 31), whole);
}

TEST(Jacobi3dBlocks, EverySubmissionOrderHoldsEachBlockOnceAndBlocksFillTheGrid) {
  for (Shape const& s : shapes()) {
    Blocks const blocks(s.grid, s.block);
    std::size_t sites = 0;
    for (int b = 0; b < blocks.size(); ++b) {
      Box const box = blocks.box(b);
      sites += Extent{box.hi.i - box.lo.i, box.hi.j - box.lo.j, box.hi.k - box.lo.k}.sites();
      EXPECT_EQ(box.lo.k / s.block.k, blocks.layer(b));
    }
    EXPECT_EQ(sites, s.grid.sites());
    for (Order const order : {Order::kji, Order::jki, Order::strips}) {
      auto list = blocks.submission(order, 3);
      std::sort(list.begin(), list.end());
      std::vector<int> each(static_cast<std::size_t>(blocks.size()));
      std::iota(each.begin(), each.end(), 0);
      EXPECT_EQ(list, each) << name_of(s) << ' ' << to_string(order);
    }
  }
}

TEST(Jacobi3dBlocks, SubmissionOrdersAreThePapers) {
  Blocks const blocks({4, 6, 4}, {4, 2, 2});  // 3 j-blocks, 2 layers
  EXPECT_THAT(blocks.submission(Order::kji, 1), testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(blocks.submission(Order::jki, 1), testing::ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(blocks.submission(Order::strips, 2), testing::ElementsAre(0, 1, 3, 4, 2, 5));
}

TEST(Jacobi3dBlocks, FirstTouchersAreThoseOfOpenMPsSchedules) {
  std::vector<int> of(8);
  for (int layer = 0; layer < 60; ++layer) {
    ++of[static_cast<std::size_t>(first_toucher(Init::contiguous, layer, 60, 8))];
    EXPECT_EQ(first_toucher(Init::round_robin, layer, 60, 8), layer % 8);
    EXPECT_EQ(first_toucher(Init::ld0, layer, 60, 8), 0);
  }
  EXPECT_THAT(of, testing::ElementsAre(8, 8, 8, 8, 7, 7, 7, 7));
  EXPECT_EQ(first_toucher(Init::contiguous, 2, 3, 8), 2);
}

TEST(Jacobi3dConfig, NamesTheArgumentThatCannotBe) {
  EXPECT_TRUE(check(paper_grid, paper_block).ok());
  EXPECT_THAT(check({0, 5, 5}, {1, 1, 1}).message(), testing::StartsWith("--grid"));
  EXPECT_THAT(check({5, 5, -5}, {1, 1, 1}).message(), testing::StartsWith("--grid"));
  EXPECT_THAT(check({5, 5, 5}, {1, 0, 1}).message(), testing::StartsWith("--block"));
  EXPECT_THAT(check({5, 5, 5}, {1, 1, 6}).message(), testing::StartsWith("--block"));
  auto const much = std::ptrdiff_t{1} << 31;
  EXPECT_THAT(check({much, much, much}, {1, 1, 1}).message(), testing::HasSubstr("overflow"));
}

// update(kernel, grid, from, to, box) of all boxes of a sweep.
template <class Update>
void expect_the_references_bits(Update const& update) {
  for (Shape const& s : shapes()) {
    Grid const grid(s.grid);
    Blocks const blocks(s.grid, s.block);
    Field const from(grid);
    Field const expected = reference_after(grid, 1);
    for (Kernel const& kernel : kernels()) {
      Field const to(grid);
      for (int b = 0; b < blocks.size(); ++b)
        update(kernel, grid, from.data(), to.data(), blocks.box(b));
      EXPECT_EQ(different_sites(grid, to.data(), expected.data()), 0U)
          << name_of(s) << ' ' << kernel.isa << (kernel.streaming ? " streaming" : " plain");
    }
  }
}

TEST(Jacobi3dKernel, EveryInstructionSetAndKindOfStoreGivesTheReferencesBits) {
  expect_the_references_bits([](Kernel const& kernel, Grid const& grid, double const* from,
                                double* to,
                                Box const& box) { kernel.sweep_block(grid, from, to, box); });
}

TEST(Jacobi3dKernel, PiecesOfTilesHaveTheReferencesBits) {
  expect_the_references_bits(
      [](Kernel const& kernel, Grid const& grid, double const* from, double* to, Box const& box) {
        TilePiece const piece{from, to, box};
        kernel.sweep_in_tile(grid, &piece, 1, 0);
      });
}

TEST(Jacobi3dKernel, TwoStepsGoTogetherWhereL1IsLarge) {
  EXPECT_EQ(planes_together(0), 0);  // unknown
  EXPECT_EQ(planes_together(32 << 10), 0);
  EXPECT_GT(planes_together(48 << 10), 12 + 10);  // two steps of a tile of twelve planes
}

// Independent of this host's L1.
std::vector<Kernel> one_by_one_and_together() {
  std::vector<Kernel> list;
  for (std::uint64_t const l1 : {std::uint64_t{32} << 10, std::uint64_t{48} << 10})
    for (Kernel kernel : kernels()) {
      kernel.together = planes_together(l1);
      list.push_back(kernel);
    }
  return list;
}

// A wavefront of up to five steps through all planes: rows that do not fill lines or are less than
// one, and blocks of as many rows as kernels take through together and of others.
TEST(Jacobi3dKernel, PiecesThatFollowEachOtherHaveTheReferencesBits) {
  constexpr int steps = 5;
  for (Extent const& size :
       {Extent{40, 21, 3}, Extent{35, 13, 9}, Extent{5, 9, 2}, Extent{16, 10, 20}})
    for (std::ptrdiff_t rows = 2; rows <= 8; ++rows) {
      Grid const grid(size);
      Field const expected = reference_after(grid, steps);
      for (Kernel const& kernel : one_by_one_and_together()) {
        Field a(grid), b(grid);
        for (std::ptrdiff_t front = 0; front < size.j + steps - 1; front += rows) {
          std::vector<TilePiece> block;
          for (int step = 0; step < steps; ++step) {
            auto const begin = std::max<std::ptrdiff_t>(front - step, 0);
            auto const end = std::min(front + rows - step, size.j);
            bool const even = step % 2 == 0;
            if (begin < end)
              block.push_back({even ? a.data() : b.data(),
                               even ? b.data() : a.data(),
                               {{0, begin, 0}, {size.i, end, size.k}}});
          }
          kernel.sweep_in_tile(grid, block.data(), std::ssize(block), kernel.together);
        }
        EXPECT_EQ(different_sites(grid, b.data(), expected.data()), 0U)
            << size.i << ' ' << rows << ' ' << kernel.isa << ' ' << kernel.together;
      }
    }
}

// Tiles as small as a block, so that every border, corner and length of slab occurs.
TEST(Jacobi3dKernel, TwoStepsOverTilesGiveTheBitsOfTwoSweeps) {
  for (Shape s : shapes()) {
    s.block.i = s.grid.i;
    Grid const grid(s.grid);
    Blocks const tiles(s.grid, s.block);
    Grid const ring({s.grid.i, s.block.j, ring_depth});
    Field const scratch(ring);
    Field const from(grid);
    Field const expected = reference_after(grid, 2);
    for (Kernel const& kernel : kernels()) {
      Field const to(grid);
      for (int t = 0; t < tiles.size(); ++t)
        kernel.two_steps(grid, from.data(), to.data(), tiles.box(t), ring, scratch.data());
      EXPECT_EQ(different_sites(grid, to.data(), expected.data()), 0U)
          << name_of(s) << ' ' << kernel.isa << (kernel.streaming ? " streaming" : " plain");
    }
  }
}

TEST(Jacobi3dKernel, PiecesOfTilesWriteInTheirBoxesOnly) {
  Extent const size{19, 12, 31};
  Grid const grid(size);
  Plan const plan{grid, Blocks(size, size), {}, {}};
  Field const expected = reference_after(grid, 6);
  for (Kernel const& kernel : kernels()) {
    Field const a(grid), b(grid);
    Sweep sweep;
    sweep.plan = &plan;
    sweep.kernel = &kernel;
    sweep.from = a.data();
    sweep.to = b.data();
    sweep.steps = 6;
    EXPECT_TRUE(sweep_in_tiles(sweep, {.tile_width = 8, .tile_rows = 3, .checked = true}).checked);
    EXPECT_EQ(different_sites(grid, a.data(), expected.data()), 0U) << kernel.isa;
  }
}

// Planes that differ from piece to piece, and pieces of one and of several groups of rows.
TEST(Jacobi3dKernel, TilesHaveTheReferencesBits) {
  constexpr int steps = 9;
  for (Extent const& size : {Extent{19, 12, 31}, Extent{40, 23, 50}})
    for (std::size_t const rows : {2U, 4U, 8U}) {
      Grid const grid(size);
      Plan const plan{grid, Blocks(size, size), {}, {}};
      Field const expected = reference_after(grid, steps);
      for (Kernel const& kernel : one_by_one_and_together()) {
        Field a(grid), b(grid);
        Sweep sweep;
        sweep.plan = &plan;
        sweep.kernel = &kernel;
        sweep.from = a.data();
        sweep.to = b.data();
        sweep.steps = steps;
        EXPECT_TRUE(sweep_in_tiles(sweep, {.tile_width = 8, .tile_rows = rows}).in_tiles);
        EXPECT_EQ(different_sites(grid, b.data(), expected.data()), 0U)
            << size.i << ' ' << rows << ' ' << kernel.isa << ' ' << kernel.together;
      }
    }
}

class Jacobi3dVariant : public testing::TestWithParam<VariantInfo const*> {};

// Four threads in two domains of a machine that is not this one, so nothing is pinned.
TEST_P(Jacobi3dVariant, GivesTheReferencesBits) {
  VariantInfo const& info = *GetParam();
  if (info.make == nullptr) GTEST_SKIP() << info.why_absent;
  auto const machine = nigh::topology::from_synthetic("pack:2 numa:1 core:2 pu:1").value();
  Team team;
  team.machine = &machine;
  team.cpus = machine.cpus();
  auto const variant = info.make(team);
  constexpr int sweeps = 3;
  for (Shape const& s : shapes()) {
    Grid const grid(s.grid);
    Plan plan{grid, Blocks(s.grid, s.block), {}, {}};
    for (int b = 0; b < plan.blocks.size(); ++b) plan.home.push_back(plan.blocks.layer(b) % 2);
    Field const expected = reference_after(grid, sweeps);
    for (Order const order : {Order::kji, Order::jki, Order::strips}) {
      plan.submission = plan.blocks.submission(order, 2);
      std::vector<std::int16_t> ran_in(plan.home.size(), 77);
      Field a(grid);
      Field b(grid);
      Sweep sweep;
      sweep.plan = &plan;
      sweep.kernel = find_kernel("", true);
      sweep.machine = &machine;
      sweep.ran_in = ran_in.data();
      for (int done = 0; done < sweeps; done += sweep.steps) {
        sweep.steps = std::min(variant->most_steps(), sweeps - done);
        sweep.from = a.data();
        sweep.to = b.data();
        variant->sweep(sweep);
        if (!variant->ends_in_place(sweep.steps)) std::swap(a, b);
      }
      EXPECT_EQ(different_sites(grid, a.data(), expected.data()), 0U)
          << name_of(s) << ' ' << to_string(order);
      EXPECT_THAT(ran_in, testing::Not(testing::Contains(77)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Jacobi3dVariant, testing::ValuesIn([] {
                           std::vector<VariantInfo const*> list;
                           for (VariantInfo const& v : variants()) list.push_back(&v);
                           return list;
                         }()),
                         [](auto const& tested) {
                           std::string name = tested.param->name;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(Jacobi3dVariants, AreFoundByNameAndByFamily) {
  ASSERT_NE(find_variant("nigh/queues"), nullptr);
  EXPECT_EQ(find_variant("nigh/queues")->name, "nigh/queues");
  ASSERT_NE(find_variant("openmp/tasks"), nullptr);
  EXPECT_TRUE(find_variant("openmp/tasks")->name.ends_with("/tasks"));
  EXPECT_EQ(find_variant("openmp"), nullptr);
  EXPECT_EQ(find_variant(""), nullptr);
}

}  // namespace
}  // namespace jacobi3d
