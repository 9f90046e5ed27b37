// SPDX-License-Identifier: Apache-2.0
#pragma once
// SparseLU of BOTS: LU factorisation of a sparse matrix of dense blocks, one task a block
// operation, one thread making the tasks of each phase.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "shapes/sparselu_blocks.hpp"

namespace nigh {
struct task_loop_options;
}

namespace sparselu {

// A sparse matrix of dense blocks, filled as the Barcelona OpenMP Tasks Suite (BOTS) does.
class Matrix {
 public:
  Matrix(int blocks, int side);  // blocks x blocks of them, side x side floats each

  void refill();  // as it was at the beginning: no fill-in, all values new

  int blocks() const noexcept { return blocks_; }
  int side() const noexcept { return side_; }

  // Null where the block is absent. Different blocks may be asked for, and made, by different
  // threads at the same time.
  float* at(int row, int column) noexcept { return slot(row, column).get(); }
  float const* at(int row, int column) const noexcept { return slot(row, column).get(); }
  float* at_or_zeros(int row, int column);  // makes a block of zeros where there is none

  std::uint64_t checksum() const noexcept;  // of which blocks there are, and of all bits in them

 private:
  using Block = std::unique_ptr<float[]>;

  std::size_t index(int row, int column) const noexcept {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(blocks_) +
           static_cast<std::size_t>(column);
  }
  Block& slot(int row, int column) noexcept { return slots_[index(row, column)]; }
  Block const& slot(int row, int column) const noexcept { return slots_[index(row, column)]; }
  std::size_t floats() const noexcept {
    return static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_);
  }

  int blocks_, side_;
  std::vector<Block> slots_;
};

// The four operations on blocks of b x b floats. Their loops are nested such that the innermost
// runs along rows; each element still sees its operations in BOTS's order, so results agree to the
// bit.

void lu0(float* diagonal, int b) noexcept;                       // factorises it
void fwd(float const* diagonal, float* column, int b) noexcept;  // solves with its lower half
void bdiv(float const* diagonal, float* row, int b) noexcept;    // solves with its upper half
void bmod(float const* row, float const* column, float* inner,
          int b) noexcept;  // inner -= row x column

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

// The same with a task loop over the rows of blocks that a step updates, a team on each row. No two
// steps have the same work.
void solve_on_teams(Matrix& matrix, nigh::task_loop_options const& options);

}  // namespace sparselu
