// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which blocks of the sparse matrix there are before the factorisation, as BOTS has it.

namespace sparselu {

constexpr bool present_at_start(int row, int column) noexcept {
  if (row == column || row == column - 1 || row - 1 == column) return true;
  if (row < column && row % 3 != 0) return false;
  if (row > column && column % 3 != 0) return false;
  return row % 2 == 0 && column % 2 == 0;
}

}  // namespace sparselu
