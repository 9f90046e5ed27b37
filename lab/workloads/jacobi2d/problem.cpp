// SPDX-License-Identifier: Apache-2.0
#include "jacobi2d/problem.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "checksum.hpp"

namespace jacobi2d {

namespace {

// A field with a border around it; indices from -1 on.
class Field {
 public:
  explicit Field(std::ptrdiff_t side)
      : pitch_(side + 2), values_(static_cast<std::size_t>(pitch_ * pitch_)) {}
  double& operator()(std::ptrdiff_t row, std::ptrdiff_t column) noexcept {
    return values_[static_cast<std::size_t>((row + 1) * pitch_ + column + 1)];
  }

 private:
  std::ptrdiff_t pitch_;
  std::vector<double> values_;
};

Field initial_field(std::ptrdiff_t side) {
  Field f(side);
  for (std::ptrdiff_t row = -1; row <= side; ++row)
    for (std::ptrdiff_t column = -1; column <= side; ++column)
      f(row, column) = initial_value(row, column);
  return f;
}

}  // namespace

std::size_t Problem::bytes() const noexcept {
  Layout const layout(points);
  return sizeof(double) * 2 * static_cast<std::size_t>(layout.field) *
         static_cast<std::size_t>(blocks) * static_cast<std::size_t>(blocks);
}

int points_for(double share, std::size_t memory_bytes, int blocks) noexcept {
  double const bytes = share * static_cast<double>(memory_bytes);
  double const side = std::sqrt(bytes / (2 * sizeof(double)));
  int points = static_cast<int>(std::min(1e6, side / blocks));
  auto const fits = [&] {
    return static_cast<double>(Problem{.blocks = blocks, .points = points}.bytes()) <= bytes;
  };
  while (points > 1 && !fits()) --points;
  return std::max(1, points);
}

double initial_value(std::ptrdiff_t row, std::ptrdiff_t column) noexcept {
  auto const place =
      static_cast<std::uint64_t>(row + 1) << 32 | static_cast<std::uint64_t>(column + 1);
  return static_cast<double>(workloads::mixed(place) >> 11) * 0x1p-53;
}

std::uint64_t point_checksum(Problem const& p, std::ptrdiff_t row, std::ptrdiff_t column,
                             double value) noexcept {
  return workloads::checksum_of(static_cast<std::uint64_t>(row * p.side() + column), value);
}

std::uint64_t reference_checksum(Problem const& p) {
  std::ptrdiff_t const n = p.points;
  Field const first = initial_field(p.side());
  Field now = first, next = first;
  for (int iteration = 0; iteration < p.iterations; ++iteration) {
    Field around = p.sends ? now : first;
    for (std::ptrdiff_t top = 0; top < p.side(); top += n)
      for (std::ptrdiff_t left = 0; left < p.side(); left += n) {
        Field block(n);
        for (std::ptrdiff_t r = -1; r <= n; ++r)
          for (std::ptrdiff_t c = -1; c <= n; ++c) {
            bool const inside = r >= 0 && r < n && c >= 0 && c < n;
            block(r, c) = (inside ? now : around)(top + r, left + c);
          }
        for (int step = 0; step < p.steps; ++step) {
          Field old = block;
          for (std::ptrdiff_t r = 0; r < n; ++r)
            for (std::ptrdiff_t c = 0; c < n; ++c)
              block(r, c) =
                  (old(r, c) + old(r - 1, c) + old(r + 1, c) + old(r, c - 1) + old(r, c + 1)) * 0.2;
        }
        for (std::ptrdiff_t r = 0; r < n; ++r)
          for (std::ptrdiff_t c = 0; c < n; ++c) next(top + r, left + c) = block(r, c);
      }
    std::swap(now, next);
  }
  std::uint64_t sum = 0;
  for (std::ptrdiff_t r = 0; r < p.side(); ++r)
    for (std::ptrdiff_t c = 0; c < p.side(); ++c) sum += point_checksum(p, r, c, now(r, c));
  return sum;
}

}  // namespace jacobi2d
