// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part that all problems share: runs on a grid.

#include <chrono>
#include <cstring>
#include <nigh/time_grid.hpp>

#include "stencils/stencils.hpp"

namespace stencils {

// Of values in some order.
class Bits {
 public:
  void add(double value) noexcept {
    std::uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    sum_ = (sum_ ^ word) * 0x9e3779b97f4a7c15u;
    sum_ ^= sum_ >> 29;
  }
  std::uint64_t sum() const noexcept { return sum_; }

 private:
  std::uint64_t sum_ = 1;
};

template <class T, std::size_t D, class Update>
Outcome run(nigh::time_grid<T, D>& grid, std::size_t steps, Update const& update) {
  Outcome o;
  o.plan = grid.plan();
  auto const start = std::chrono::steady_clock::now();
  grid.run(steps, update);
  o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  o.updates = static_cast<double>(steps);
  for (auto const n : grid.points()) o.updates *= static_cast<double>(n);
  return o;
}

// Signed, as a view's indices are.
template <std::size_t D>
struct Bounds {
  std::array<std::ptrdiff_t, D> begin, end;
  explicit Bounds(nigh::box<D> const& b) {
    for (std::size_t d = 0; d < D; ++d) {
      begin[d] = static_cast<std::ptrdiff_t>(b.begin[d]);
      end[d] = static_cast<std::ptrdiff_t>(b.end[d]);
    }
  }
};

}  // namespace stencils
