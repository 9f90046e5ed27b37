// SPDX-License-Identifier: Apache-2.0
#pragma once
// A sparse matrix of dense blocks, filled as the Barcelona OpenMP Tasks Suite (BOTS) does.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "shapes/sparselu_blocks.hpp"

namespace sparselu {

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

}  // namespace sparselu
