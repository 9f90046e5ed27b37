// SPDX-License-Identifier: Apache-2.0
#pragma once
// CG's matrix: sparse, symmetric, with eigenvalues from 0.1 to 1 less the shift, as prescribed.

#include <cstddef>
#include <vector>

namespace cg {

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

}  // namespace cg
