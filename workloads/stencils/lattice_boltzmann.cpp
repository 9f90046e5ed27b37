// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "stencils/run.hpp"

namespace stencils {

namespace {

constexpr std::size_t q = 19;

// Particles that move to each of 18 neighbours, and those that stay.
struct Cell {
  std::array<double, q> f;
  bool operator==(Cell const&) const = default;
};

struct Direction {
  std::ptrdiff_t k, j, i;
  double weight;
};

constexpr std::array<Direction, q> directions = [] {
  std::array<Direction, q> all{};
  std::size_t n = 0;
  for (std::ptrdiff_t k = -1; k <= 1; ++k)
    for (std::ptrdiff_t j = -1; j <= 1; ++j)
      for (std::ptrdiff_t i = -1; i <= 1; ++i) {
        auto const length = k * k + j * j + i * i;
        if (length <= 2)
          all[n++] = {k, j, i, length == 0 ? 1.0 / 3 : length == 1 ? 1.0 / 18 : 1.0 / 36};
      }
  return all;
}();

struct Flow {
  double density, k, j, i;  // and momentum
};

Flow flow_of(std::array<double, q> const& f) noexcept {
  Flow m{0, 0, 0, 0};
  for (std::size_t n = 0; n < q; ++n) {
    auto const& d = directions[n];
    m.density += f[n];
    m.k += f[n] * static_cast<double>(d.k);
    m.j += f[n] * static_cast<double>(d.j);
    m.i += f[n] * static_cast<double>(d.i);
  }
  return m;
}

double equilibrium(Direction const& d, double density, double k, double j, double i) noexcept {
  double const along = static_cast<double>(d.k) * k + static_cast<double>(d.j) * j +
                       static_cast<double>(d.i) * i;
  double const square = k * k + j * j + i * i;
  return d.weight * density * (1 + 3 * along + 4.5 * along * along - 1.5 * square);
}

double mass(nigh::time_grid<Cell, 3>& grid, std::size_t side, Bits* bits) {
  double sum = 0;
  for (std::size_t k = 0; k < side; ++k)
    for (std::size_t j = 0; j < side; ++j)
      for (std::size_t i = 0; i < side; ++i)
        for (double const f : grid.values()(k, j, i).f) {
          sum += f;
          if (bits != nullptr) bits->add(f);
        }
  return sum;
}

}  // namespace

// Each cell pulls what moves towards it, and relaxes towards the equilibrium of what has come.
Outcome lattice_boltzmann(std::size_t side, std::size_t steps, nigh::stencil_options const& how) {
  constexpr auto ring = nigh::boundary::periodic;
  nigh::time_grid<Cell, 3> grid({side, side, side},
                                {.boundaries = {ring, ring, ring}, .tiles = how});
  double const turn = 2 * 3.14159265358979323846 / static_cast<double>(side);
  grid.fill([&](std::ptrdiff_t k, std::ptrdiff_t j, std::ptrdiff_t i) {
    auto const wave = [&](std::ptrdiff_t n) { return std::sin(turn * static_cast<double>(n)); };
    Cell c;
    for (std::size_t n = 0; n < q; ++n)
      c.f[n] = equilibrium(directions[n], 1 + 0.01 * wave(i), 0.05 * wave(j), 0.05 * wave(k), 0);
    return c;
  });
  double const before_all = mass(grid, side, nullptr);
  auto o = run(grid, steps, [](std::size_t, auto const& now, auto const& before, nigh::box<3> const& b) {
    constexpr double relaxation = 1.2;
    Bounds<3> const in(b);
    for (auto k = in.begin[0]; k < in.end[0]; ++k)
      for (auto j = in.begin[1]; j < in.end[1]; ++j)
        for (auto i = in.begin[2]; i < in.end[2]; ++i) {
          std::array<double, q> f;
          for (std::size_t n = 0; n < q; ++n) {
            auto const& d = directions[n];
            f[n] = before(k - d.k, j - d.j, i - d.i).f[n];
          }
          Flow const m = flow_of(f);
          auto& to = now(k, j, i).f;
          for (std::size_t n = 0; n < q; ++n) {
            double const rest = equilibrium(directions[n], m.density, m.k / m.density,
                                            m.j / m.density, m.i / m.density);
            to[n] = f[n] + relaxation * (rest - f[n]);
          }
        }
  });
  Bits bits;
  o.conserved = mass(grid, side, &bits);
  o.expected = before_all;
  o.bits = bits.sum();
  return o;
}

}  // namespace stencils
