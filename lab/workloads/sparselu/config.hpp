// SPDX-License-Identifier: Apache-2.0
#pragma once
// SparseLU of BOTS: LU factorisation of a sparse matrix of dense blocks, one task a block
// operation, one thread making the tasks of each phase.

#include "sparselu/kernels.hpp"
#include "sparselu/matrix.hpp"

namespace sparselu {

// One step of the factorisation, in operations on blocks. Those of one phase (all solves, then all
// updates) are independent of each other.
struct Step {
  Matrix& m;
  int k;

  void factorise() const noexcept { lu0(m.at(k, k), m.side()); }
  bool in_row(int column) const noexcept { return m.at(k, column) != nullptr; }
  bool in_column(int row) const noexcept { return m.at(row, k) != nullptr; }
  void solve_row(int column) const noexcept { fwd(m.at(k, k), m.at(k, column), m.side()); }
  void solve_column(int row) const noexcept { bdiv(m.at(k, k), m.at(row, k), m.side()); }
  void update(int row, int column) const {
    bmod(m.at(row, k), m.at(k, column), m.at_or_zeros(row, column), m.side());
  }
};

void solve_serial(Matrix& matrix);
void solve_openmp(Matrix& matrix);
void solve_tbb(Matrix& matrix);
void solve_nigh(Matrix& matrix);

}  // namespace sparselu
