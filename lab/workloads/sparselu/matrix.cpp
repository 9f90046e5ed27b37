// SPDX-License-Identifier: Apache-2.0
#include "sparselu/matrix.hpp"

#include <bit>

namespace sparselu {

Matrix::Matrix(int blocks, int side)
    : blocks_(blocks),
      side_(side),
      slots_(static_cast<std::size_t>(blocks) * static_cast<std::size_t>(blocks)) {
  refill();
}

void Matrix::refill() {
  int state = 1325;
  for (int row = 0; row < blocks_; ++row)
    for (int column = 0; column < blocks_; ++column) {
      Block& block = slot(row, column);
      if (!present_at_start(row, column)) {
        block.reset();
        continue;
      }
      if (block == nullptr) block = std::make_unique_for_overwrite<float[]>(floats());
      for (std::size_t n = 0; n < floats(); ++n) {
        state = 3125 * state % 65536;
        block[n] = static_cast<float>((state - 32768.0) / 16384.0);
      }
    }
}

float* Matrix::at_or_zeros(int row, int column) {
  Block& block = slot(row, column);
  if (block == nullptr) block = std::make_unique<float[]>(floats());
  return block.get();
}

std::uint64_t Matrix::checksum() const noexcept {
  constexpr std::uint64_t prime = 1099511628211U;  // FNV-1a, a word at a time
  std::uint64_t sum = 14695981039346656037U;
  for (Block const& block : slots_) {
    sum = (sum ^ (block != nullptr)) * prime;
    if (block == nullptr) continue;
    for (std::size_t n = 0; n < floats(); ++n)
      sum = (sum ^ std::bit_cast<std::uint32_t>(block[n])) * prime;
  }
  return sum;
}

}  // namespace sparselu
