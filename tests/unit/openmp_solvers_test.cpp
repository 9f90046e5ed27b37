// SPDX-License-Identifier: Apache-2.0
// The plain OpenMP programs' solvers: published results, results worked out another way, and the
// same bits with any number of threads.
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <vector>

#include "adi/solver.hpp"
#include "cg/cg.hpp"
#include "ep/ep.hpp"
#include "gauss/gauss.hpp"
#include "mmul/mmul.hpp"

namespace {

constexpr int teams[] = {1, 2, 3, 7};

template <class Body>
void with_each_team(Body body) {
  int const before = omp_get_max_threads();
  for (int const threads : teams) {
    SCOPED_TRACE(threads);
    omp_set_num_threads(threads);
    body();
  }
  omp_set_num_threads(before);
}

TEST(Gauss, FindsTheOnesThatTheRightSideWasMadeOf) {
  for (int const n : {1, 2, 3, 17, 100}) {
    auto const r = gauss::solve(n);
    EXPECT_TRUE(r.verified) << n << ": " << r.scaled_residual;
    for (double const x : r.x) EXPECT_NEAR(x, 1, 1e-9) << n;
  }
}

TEST(Gauss, HasTheSameBitsWithAnyTeam) {
  auto const expected = gauss::solve(120);
  with_each_team([&] {
    auto const r = gauss::solve(120);
    EXPECT_EQ(r.x, expected.x);
    EXPECT_EQ(r.checksum, expected.checksum);
  });
}

TEST(Mmul, IsTheProductAtTheEdgesOfBlocksToo) {
  for (int const n : {1, 5, 130, 261}) {
    auto const r = mmul::multiply(n);
    EXPECT_TRUE(r.verified) << n;
    auto const at = [&](int i, int j) { return r.c[static_cast<std::size_t>(i * n + j)]; };
    for (int i = 0; i < n; i += 1 + n / 7)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int k = 0; k < n; ++k)
          sum += mmul::element_of_a(n, i, k) * mmul::element_of_b(n, k, j);
        ASSERT_EQ(at(i, j), sum) << n << ": " << i << ", " << j;
      }
  }
}

TEST(Mmul, HasTheSameBitsWithAnyTeam) {
  auto const expected = mmul::multiply(150);
  with_each_team([&] { EXPECT_EQ(mmul::multiply(150).c, expected.c); });
}

TEST(Ep, HasThePublishedSumsWithAnyTeam) {
  auto const expected = ep::run(*ep::find_class("S"));
  EXPECT_TRUE(expected.verified);
  EXPECT_EQ(expected.pairs, 13176389);  // published, too
  omp_set_num_threads(3);
  auto const r = ep::run(*ep::find_class("s"));
  omp_set_num_threads(omp_get_num_procs());
  EXPECT_EQ(r.sum_x, expected.sum_x);
  EXPECT_EQ(r.sum_y, expected.sum_y);
  EXPECT_EQ(r.counts, expected.counts);
}

TEST(Ep, DISABLED_HasThePublishedSumsOfLargerClasses) {
  for (char const* const name : {"W", "A"}) EXPECT_TRUE(ep::run(*ep::find_class(name)).verified);
}

TEST(Cg, MakesASymmetricMatrix) {
  auto const m = cg::make_matrix(*cg::find_class("S"));
  auto const element = [&](int i, int j) {
    for (auto e = m.row_begin[static_cast<std::size_t>(i)];
         e < m.row_begin[static_cast<std::size_t>(i) + 1]; ++e)
      if (m.column[e] == j) return m.value[e];
    return 0.0;
  };
  for (int i = 0; i < m.n; i += 13)
    for (auto e = m.row_begin[static_cast<std::size_t>(i)];
         e < m.row_begin[static_cast<std::size_t>(i) + 1]; ++e)
      ASSERT_NEAR(element(m.column[e], i), m.value[e], 1e-15);
}

TEST(Cg, HasThePublishedZetaWithAnyTeam) {
  auto const expected = cg::run(*cg::find_class("S"));
  EXPECT_TRUE(expected.verified) << expected.zeta;
  EXPECT_LT(expected.residual, 1e-10);
  with_each_team([&] { EXPECT_EQ(cg::run(*cg::find_class("S")).zeta, expected.zeta); });
}

TEST(Cg, DISABLED_HasThePublishedZetaOfLargerClasses) {
  for (char const* const name : {"W", "A"}) {
    auto const r = cg::run(*cg::find_class(name));
    EXPECT_TRUE(r.verified) << name << ": " << r.zeta;
  }
}

TEST(Npb, KnowsItsClasses) {
  for (auto const& c : cg::classes()) EXPECT_EQ(cg::find_class({&c.name, 1}), &c);
  for (auto const& c : ep::classes()) EXPECT_EQ(ep::find_class({&c.name, 1}), &c);
  for (char const* const none : {"", "X", "AA"}) {
    EXPECT_EQ(cg::find_class(none), nullptr);
    EXPECT_EQ(ep::find_class(none), nullptr);
  }
}

TEST(Adi, SolvesWhatItApplies) {
  adi::LineOperator const forward(5, -3.0), backward(5, 3.0);  // 1 - r D either way
  std::vector<double> const u{1, -2, 0.5, 4, 3};
  std::vector<double> line(5);
  forward.apply(u.data(), line.data());
  backward.solve(line.data());
  for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(line[i], u[i], 1e-13);
}

TEST(Adi, EndsWithTheSerialSolversBitsWithAnyTeam) {
  for (int const n : {1, 2, 33, 70}) {
    adi::Problem const problem{n, 6};
    auto const expected = adi::solve_serially(problem);
    EXPECT_TRUE(expected.verified()) << n << ": " << expected.error;
    with_each_team([&] {
      auto const r = adi::solve(problem, 0, n, adi::transpose_alone);
      EXPECT_EQ(r.checksum, expected.checksum) << n;
      EXPECT_EQ(r.error, expected.error);
    });
  }
}

// A check that nothing can fail would be none.
TEST(Adi, SeesAPointThatIsWrong) {
  adi::Problem const problem{20, 4};
  auto const forgetful = [](adi::Lines const& from, adi::Lines& to) {
    adi::transpose_alone(from, to);
    to.line(3)[4] += 1e-6;
  };
  EXPECT_FALSE(adi::solve(problem, 0, problem.n, forgetful).verified());
  adi::Result r;
  r.add_point(problem, 0, 0, std::nan(""));
  r.add_point(problem, 0, 1, problem.end(0, 1));
  EXPECT_FALSE(r.verified());
}

}  // namespace
