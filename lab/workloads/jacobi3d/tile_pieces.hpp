// SPDX-License-Identifier: Apache-2.0
#pragma once
// TilePieces: what a tile does in one go, gathered for one call of the kernel.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "jacobi3d/variant.hpp"

namespace jacobi3d {

class TilePieces {
 public:
  explicit TilePieces(Sweep const& sweep) noexcept : sweep_(sweep) {}

  // In the order of a tile's wavefront. A step that is not behind the last one begins a new block.
  void add(std::int64_t step, Box const& box) {
    if (count_ == most || (count_ > 0 && step <= steps_[count_ - 1])) run();
    bool const odd = step % 2 == 1;
    pieces_[count_] = {odd ? sweep_.from : sweep_.to, odd ? sweep_.to : sweep_.from, box};
    steps_[count_++] = step;
  }

  void run() {
    auto const count = std::exchange(count_, 0);
    Kernel const& kernel = *sweep_.kernel;
    kernel.sweep_in_tile(sweep_.plan->grid, pieces_.data(), static_cast<std::ptrdiff_t>(count),
                         kernel.together);
    for (std::size_t n = 0; n < count; ++n) sweep_.wrote_here(steps_[n], pieces_[n].box);
  }

 private:
  static constexpr std::size_t most = 32;  // even, so that a cut leaves pairs together

  Sweep const& sweep_;
  std::array<TilePiece, most> pieces_;
  std::array<std::int64_t, most> steps_;
  std::size_t count_ = 0;
};

}  // namespace jacobi3d
