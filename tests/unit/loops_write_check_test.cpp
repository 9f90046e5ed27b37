// SPDX-License-Identifier: Apache-2.0
// Updates of a program's own arrays that write where they must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <nigh/stencil.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using nigh::boundary;
using nigh::box;
using nigh::stencil;
using nigh::stencil_array;
using nigh::stencil_shape;

template <class Run>
std::string complaint(Run const& run) {
  try {
    run();
  } catch (std::logic_error const& e) {  // std::invalid_argument, too
    return e.what();
  }
  return "nothing";
}

// 20 x 10 x 5 points with a ghost on each side, in rows of 9 elements and planes of 120.
class Padded {
 public:
  static constexpr std::array<std::ptrdiff_t, 3> pitch{120, 9, 1};

  explicit Padded(double value = 0) {
    for (auto& copy : copies_) copy.assign(22 * 120, value);
  }
  double& at(std::size_t step, std::ptrdiff_t k, std::ptrdiff_t j, std::ptrdiff_t i) {
    return copies_[step % 2][static_cast<std::size_t>(offset(k, j, i))];
  }
  stencil_shape<3> shape() {
    constexpr std::ptrdiff_t bytes = sizeof(double);
    return {.points = {20, 10, 5},
            .arrays = {{.even = &at(0, 0, 0, 0),
                        .odd = &at(1, 0, 0, 0),
                        .ghosts = {1, 1, 1},
                        .stride_bytes = {pitch[0] * bytes, pitch[1] * bytes, bytes}}}};
  }

 private:
  static std::ptrdiff_t offset(std::ptrdiff_t k, std::ptrdiff_t j, std::ptrdiff_t i) {
    return (k + 1) * pitch[0] + (j + 1) * pitch[1] + (i + 1) * pitch[2];
  }
  std::array<std::vector<double>, 2> copies_;
};

std::ptrdiff_t at(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

void write_box(Padded& u, std::size_t step, box<3> const& b) {
  for (auto k = b.begin[0]; k < b.end[0]; ++k)
    for (auto j = b.begin[1]; j < b.end[1]; ++j)
      for (auto i = b.begin[2]; i < b.end[2]; ++i) u.at(step, at(k), at(j), at(i)) += 1;
}

using Wrong = std::function<void(Padded&, std::size_t step, box<3> const&)>;

std::string complaint_of(Wrong const& wrong, nigh::stencil_options const& options) {
  Padded u;
  stencil<3> s(u.shape(), options);
  return complaint([&] {
    s.run(6, [&](std::size_t step, box<3> const& b) {
      write_box(u, step, b);
      if (step == 3) wrong(u, step, b);
    });
  });
}

TEST(WriteCheck, AWriteOutsideOfTheBoxIsNamedInTilesAndInSweeps) {
  for (bool const plain : {false, true}) {
    nigh::stencil_options const checked{.tile_width = 4, .plain_sweeps = plain, .checked = true};
    EXPECT_EQ(complaint_of([](auto&, auto, auto&) {}, checked), "nothing");
    auto const behind = [](Padded& u, std::size_t step, box<3> const& b) {
      if (b.begin[0] <= 10 && b.end[0] > 10) u.at(step, at(b.end[0]), at(b.begin[1]), 2) = -1;
    };
    auto const said = complaint_of(behind, checked);
    EXPECT_THAT(said, StartsWith("nigh::stencil: the update of step 3 wrote point ("));
    EXPECT_THAT(said, HasSubstr(", 2), outside of its box from ("));
    auto const old = [](Padded& u, std::size_t step, box<3> const& b) {
      u.at(step - 1, at(b.begin[0]), at(b.begin[1]), 4) = -1;
    };
    EXPECT_THAT(complaint_of(old, checked), HasSubstr(", 4) in the copy that it reads; its box is from ("));
    auto const ghost = [](Padded& u, std::size_t step, box<3> const& b) {
      u.at(step, at(b.begin[0]), at(b.begin[1]), -1) = -1;
    };
    EXPECT_THAT(complaint_of(ghost, checked), HasSubstr(", -1), outside of its box"));
    auto const padding = [](Padded& u, std::size_t step, box<3> const& b) {
      u.at(step, at(b.begin[0]), at(b.begin[1]), 6) = -1;  // is no element of it
    };
    EXPECT_EQ(complaint_of(padding, checked), "nothing");
    EXPECT_EQ(complaint_of(old, {.tile_width = 4, .plain_sweeps = plain}), "nothing");
  }
}

TEST(WriteCheck, TheEnvironmentAsksForIt) {
  auto const old = [](Padded& u, std::size_t step, box<3> const& b) {
    u.at(step - 1, at(b.begin[0]), at(b.begin[1]), 4) = -1;
  };
  setenv("NIGH_CHECK_WRITES", "1", 1);
  EXPECT_THAT(complaint_of(old, {.tile_width = 4}), HasSubstr("the update of step 3"));
  setenv("NIGH_CHECK_WRITES", "0", 1);
  EXPECT_EQ(complaint_of(old, {.tile_width = 4}), "nothing");
  unsetenv("NIGH_CHECK_WRITES");
}

TEST(WriteCheck, WhatIsNotANumberHasNotBeenWritten) {
  Padded u(std::numeric_limits<double>::quiet_NaN());
  stencil<3> s(u.shape(), {.tile_width = 4, .checked = true});
  EXPECT_EQ(complaint([&] {
              s.run(4, [&](std::size_t step, box<3> const& b) { write_box(u, step, b); });
            }),
            "nothing");
}

// One copy, written in all steps, beside one in two; without gaps, in two dimensions.
TEST(WriteCheck, SeveralArraysAreToldApart) {
  std::array<std::vector<float>, 2> u{std::vector<float>(30 * 8), std::vector<float>(30 * 8)};
  std::vector<char> visited(30 * 8);
  stencil_shape<2> const shape{
      .points = {30, 8},
      .arrays = {{.even = u[0].data(), .odd = u[1].data(), .element_bytes = sizeof(float)},
                 {.even = visited.data(), .element_bytes = 1}}};
  auto const run = [&](std::size_t wrong_step) {
    stencil<2> s(shape, {.tile_width = 4, .tile_rows = 3, .checked = true});
    EXPECT_TRUE(s.plan().checked);
    return complaint([&] {
      s.run(9, [&](std::size_t step, box<2> const& b) {
        for (auto j = b.begin[0]; j < b.end[0]; ++j)
          for (auto i = b.begin[1]; i < b.end[1]; ++i) {
            u[step % 2][j * 8 + i] += 1;
            ++visited[j * 8 + i];
          }
        if (step == wrong_step) ++visited[b.begin[0] > 0 ? 7 : 29 * 8];
      });
    });
  };
  EXPECT_EQ(run(0), "nothing");
  auto const said = run(7);
  EXPECT_THAT(said, HasSubstr("the update of step 7 wrote point ("));
  EXPECT_THAT(said, HasSubstr(") of array 1, outside of its box from ("));
}

// The program keeps the ghosts of its ring itself: those whose point is in the box may be written.
TEST(WriteCheck, GhostsOfARingFollowTheirBox) {
  std::array<std::vector<double>, 2> u{std::vector<double>(22 * 6), std::vector<double>(22 * 6)};
  stencil_shape<2> const shape{.points = {20, 6},
                               .boundaries = {boundary::periodic, boundary::fixed},
                               .arrays = {{.even = &u[0][6], .odd = &u[1][6], .ghosts = {1, 0}}}};
  auto const run = [&](bool also_others) {
    stencil<2> s(shape, {.tile_width = 4, .checked = true});
    return complaint([&] {
      s.run(8, [&](std::size_t step, box<2> const& b) {
        auto* const now = &u[step % 2][6];
        for (auto j = b.begin[0]; j < b.end[0]; ++j)
          for (auto i = b.begin[1]; i < b.end[1]; ++i) now[j * 6 + i] += 1;
        for (auto i = b.begin[1]; i < b.end[1]; ++i) {
          if (b.begin[0] == 0 || also_others) now[20 * 6 + i] += 1;
          if (b.end[0] == 20) *(now - 6 + i) += 1;
        }
      });
    });
  };
  EXPECT_EQ(run(false), "nothing");
  EXPECT_THAT(run(true), HasSubstr("wrote point (20, "));
}

TEST(WriteCheck, OfLargeArraysTheSurroundingsAreLookedAt) {
  std::array<std::vector<double>, 2> u{std::vector<double>(300 * 300), std::vector<double>(300 * 300)};
  stencil_shape<2> const shape{.points = {300, 300},
                               .arrays = {{.even = u[0].data(), .odd = u[1].data()}}};
  auto const run = [&](std::size_t planes_behind) {
    stencil<2> s(shape, {.tile_width = 4, .checked = true});
    return complaint([&] {
      s.run(2, [&](std::size_t step, box<2> const& b) {
        if (auto const j = b.end[0] - 1 + planes_behind; j < 300) u[step % 2][j * 300 + b.begin[1]] += 1;
      });
    });
  };
  EXPECT_EQ(run(0), "nothing");
  EXPECT_THAT(run(4), HasSubstr("outside of its box"));
}

TEST(WriteCheck, WhereNoArrayIsNamedItIsRefusedOrNoted) {
  stencil_shape<2> const nameless{.points = {20, 20}};
  EXPECT_THAT(complaint([&] { stencil<2>(nameless, {.checked = true}); }),
              HasSubstr("checked: no array is named in the shape"));
  auto const said = [&] {
    testing::internal::CaptureStderr();
    stencil<2> const s(nameless, {.tile_width = 4});
    EXPECT_FALSE(s.plan().checked);
    return testing::internal::GetCapturedStderr();
  };
  setenv("NIGH_CHECK_WRITES", "1", 1);
  EXPECT_EQ(said(), "");
  setenv("NIGH_VERBOSE", "1", 1);
  EXPECT_EQ(said(), "nigh: stencil: no array is named: writes are not checked\n");
  unsetenv("NIGH_CHECK_WRITES");
  EXPECT_EQ(said(), "");
  unsetenv("NIGH_VERBOSE");
}

TEST(WriteCheck, ArraysThatCannotBeAreRefused) {
  double value = 0;
  auto const why = [&](stencil_array<2> const& a) {
    return complaint([&] {
      stencil<2>({.points = {20, 20}, .arrays = {{.even = &value}, a}});
    });
  };
  EXPECT_EQ(why({}), "nigh::stencil: arrays: number 1 lies nowhere: even is null");
  EXPECT_THAT(why({.even = &value, .element_bytes = 0}), HasSubstr("number 1 has elements of 0 bytes"));
  std::size_t const huge = std::size_t{1} << 60;
  EXPECT_THAT(why({.even = &value, .element_bytes = huge}), HasSubstr("is too large"));
  EXPECT_THAT(why({.even = &value, .element_bytes = 16 * huge - 1}), HasSubstr("is too large"));
  EXPECT_THAT(why({.even = &value, .ghosts = {0, 16 * huge - 1}}), HasSubstr("is too large"));
  EXPECT_EQ(why({.even = &value}), "nothing");
}

}  // namespace
