// SPDX-License-Identifier: Apache-2.0
#pragma once
// CG of the NAS Parallel Benchmarks (Bailey and others 1991): the smallest eigenvalue of a sparse
// matrix by inverse iteration, each step 25 iterations of conjugate gradients. Hundreds of short
// regions whose threads read each other's vectors all the time.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace cg {

// CG's matrix: sparse, symmetric, with eigenvalues from 0.1 to 1 less the shift, as prescribed.

struct Class;

struct Matrix {  // compressed rows
  int n = 0;
  std::vector<std::size_t> row_begin;  // n + 1 of them
  std::vector<int> column;
  std::vector<double> value;
};

// Sum of w_i x_i x_i^T over sparse random vectors x_i, with weights from 1 down to 0.1, plus
// (0.1 - shift) on the diagonal.
Matrix make_matrix(Class const& size);

struct Class {
  char name = '?';
  int n = 0;
  int nonzeros = 0;  // of a random vector
  int iterations = 0;
  double shift = 0;
  double zeta = 0;  // published
};

std::span<Class const> classes() noexcept;
Class const* find_class(std::string_view name) noexcept;  // "A" or "a"; null: there is none

struct Result {
  double zeta = 0;
  double residual = 0;    // |x - A z| of the last solution
  bool verified = false;  // zeta is the published one to 1e-10
};

// The same bits with any number of threads.
Result run(Class const& size);

}  // namespace cg
