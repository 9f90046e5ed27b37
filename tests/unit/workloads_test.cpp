// SPDX-License-Identifier: Apache-2.0
// Every problem, in small sizes, by every family that was built: the answers must be the known
// ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nigh/topology.hpp>

#include "shapes/sha1.hpp"
#include "tasks/sparselu.hpp"
#include "tasks/strassen.hpp"
#include "workloads/problem.hpp"
#include "workloads/team.hpp"

namespace workloads {
namespace {

struct Case {
  Problem const* problem;
  Family family;
};

std::vector<Case> every_case() {
  std::vector<Case> all;
  for (Problem const& p : problems())
    for (Family const f : families) all.push_back({&p, f});
  return all;
}

std::unique_ptr<Team> team_of(Family family, int threads) {
  TeamOptions options;
  options.machine = &nigh::this_host();
  options.cpus.assign(static_cast<std::size_t>(threads), 0);
  return make_team(family, options);
}

class EveryVariant : public testing::TestWithParam<Case> {
 protected:
  void expect_right_answers(std::vector<std::string> const& sizes, int threads, int cutoff) {
    auto const [problem, family] = GetParam();
    if (!why_absent(family).empty()) GTEST_SKIP() << why_absent(family);
    auto const team = team_of(family, threads);
    for (std::string const& size : sizes) {
      auto const instance = problem->make(size, cutoff);
      for (int again = 0; again < 2; ++again) {  // an instance can be solved more than once
        instance->prepare();
        team->run([&] { instance->solve(family); });
        EXPECT_EQ(instance->answer(), instance->expected()) << problem->name << ' ' << size;
      }
    }
  }

  std::vector<std::string> const& tiny() { return GetParam().problem->tiny; }
};

TEST_P(EveryVariant, IsRightWithOneThread) { expect_right_answers(tiny(), 1, 0); }
TEST_P(EveryVariant, IsRightWithTwoThreads) { expect_right_answers(tiny(), 2, 0); }
TEST_P(EveryVariant, IsRightWithACutoff) { expect_right_answers(tiny(), 2, 3); }

// Takes a quarter of a minute: run by the test workloads_full.
TEST_P(EveryVariant, DISABLED_IsRightInUsualSizes) {
  expect_right_answers(GetParam().problem->usual, 2, 0);
}

INSTANTIATE_TEST_SUITE_P(Workloads, EveryVariant, testing::ValuesIn(every_case()),
                         [](testing::TestParamInfo<Case> const& i) {
                           std::string name = i.param.problem->name + "_" + name_of(i.param.family);
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

TEST(Problems, RefuseSizesThatAreNone) {
  for (Problem const& p : problems())
    for (char const* wrong : {"-1", "x", "", "T1x", "9999999999999", "3x", "3x-1"})
      EXPECT_THROW(p.make(wrong, 0), std::invalid_argument) << p.name << " \"" << wrong << '"';
}

// Published counts of tasks.
TEST(Problems, ConsistOfTheTasksTheySay) {
  auto const spawns = [](char const* problem, char const* size) {
    return find_problem(problem)->make(size, 0)->spawns();
  };
  EXPECT_EQ(spawns("fib", "30"), 1346268U);
  EXPECT_EQ(spawns("nqueens", "8"), 2056U);
  EXPECT_EQ(spawns("uts", "T1"), 4130070U);
  EXPECT_EQ(spawns("sparselu", "25x1"), 1804U);
  EXPECT_EQ(spawns("sparselu", "50x1"), 11675U);
  EXPECT_EQ(spawns("sparselu", "100x1"), 88350U);
  EXPECT_EQ(spawns("strassen", "256"), 56U);
}

TEST(Uts, HashesAsOthersDo) {
  using uts::Digest;
  EXPECT_EQ(uts::sha1_of_seed(0),
            (Digest{0x6768033e, 0x21646824, 0x7bd031a0, 0xa2d9876d, 0x79818f8f}));
  EXPECT_EQ(uts::sha1_of_seed(19),
            (Digest{0xc6988ab7, 0x0cc9559a, 0xe4d6cba2, 0x54e29a84, 0x5a85f86b}));
  EXPECT_EQ(uts::sha1({0x01020304, 0x05060708, 0x090a0b0c, 0x0d0e0f10, 0x11121314}, 7),
            (Digest{0x4d4106e0, 0x2fadc870, 0xdb75bf39, 0x9a148034, 0x1d4fdd58}));
}

TEST(SparseLU, FactorisesTheMatrix) {
  constexpr int blocks = 6, side = 5, n = blocks * side;
  sparselu::Matrix m(blocks, side);
  auto const element = [&m](int i, int j) {
    float const* const block = m.at(i / side, j / side);
    return block == nullptr ? 0.0 : static_cast<double>(block[i % side * side + j % side]);
  };
  std::vector<double> original;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) original.push_back(element(i, j));
  sparselu::solve_serial(m);
  double largest = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) largest = std::max(largest, std::abs(element(i, j)));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double product = 0;  // of the unit lower and the upper half
      for (int k = 0; k <= std::min(i, j); ++k)
        product += (k == i ? 1 : element(i, k)) * element(k, j);
      EXPECT_NEAR(product, original[static_cast<std::size_t>(i * n + j)], 1e-5 * largest * largest);
    }
}

TEST(Strassen, MultipliesAsByTheDefinition) {
  constexpr std::ptrdiff_t n = 256;
  std::vector<double> a(n * n), b(n * n), c(n * n), right(n * n);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<double>(i % 17) - 8;
    b[i] = static_cast<double>(i % 13) - 6;
  }
  auto const view = [](std::vector<double>& m) { return strassen::Square{m.data(), n, n}; };
  strassen::solve_serial(view(c), view(a), view(b));
  strassen::multiply(view(right), view(a), view(b));
  EXPECT_EQ(c, right);  // small whole numbers: no rounding either way
}

}  // namespace
}  // namespace workloads
