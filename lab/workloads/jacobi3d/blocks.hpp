// SPDX-License-Identifier: Apache-2.0
#pragma once
// The grid cut into blocks, their submission orders, and who touches which of them first.

#include <vector>

#include "jacobi3d/grid.hpp"

namespace jacobi3d {

// Block n = (kb * along().j + jb) * along().i + ib. The last block along an axis may be smaller.
class Blocks {
 public:
  Blocks(Extent const& grid, Extent const& block) noexcept;

  Extent const& along() const noexcept { return along_; }  // blocks along each axis
  int size() const noexcept { return static_cast<int>(along_.sites()); }
  int number(std::ptrdiff_t ib, std::ptrdiff_t jb, std::ptrdiff_t kb) const noexcept {
    return static_cast<int>((kb * along_.j + jb) * along_.i + ib);
  }
  int layer(int block) const noexcept { return static_cast<int>(block / (along_.i * along_.j)); }
  int layers() const noexcept { return static_cast<int>(along_.k); }

  Box box(int block) const noexcept;
  Box layer_box(int layer) const noexcept;  // all blocks with this kb

  // Every block once. strip: how many j-blocks a strip is wide, for Order::strips.
  std::vector<int> submission(Order order, int strip) const;

 private:
  Extent grid_, block_, along_;
};

// So many j-blocks that what a strip reads for two layers fits into so much cache; at least one.
int strip_width(Grid const& grid, Extent const& block, std::uint64_t cache_bytes) noexcept;

// The thread that touches a layer first.
int first_toucher(Init init, int layer, int layers, int threads) noexcept;

}  // namespace jacobi3d
