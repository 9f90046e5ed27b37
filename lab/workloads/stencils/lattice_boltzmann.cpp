// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <utility>

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

// Calls f with each direction's number as a constant, so that what is 0 of it costs nothing.
template <class F>
[[gnu::always_inline]] inline void for_each_direction(F const& f) noexcept {
  [&]<std::size_t... n>(std::index_sequence<n...>) {
    (f(std::integral_constant<std::size_t, n>{}), ...);
  }(std::make_index_sequence<q>{});
}

// value * way, without the multiplication.
template <std::ptrdiff_t way>
[[gnu::always_inline]] inline double times(double value) noexcept {
  static_assert(way == 1 || way == -1);
  return way > 0 ? value : -value;
}

struct Flow {
  double density = 0, k = 0, j = 0, i = 0;  // and momentum
};

[[gnu::always_inline]] inline Flow flow_of(std::array<double, q> const& f) noexcept {
  Flow m;
  for_each_direction([&](auto n) {
    constexpr Direction d = directions[n];
    m.density += f[n];
    if constexpr (d.k != 0) m.k += times<d.k>(f[n]);
    if constexpr (d.j != 0) m.j += times<d.j>(f[n]);
    if constexpr (d.i != 0) m.i += times<d.i>(f[n]);
  });
  return m;
}

// use(n, value) for each direction.
template <class Use>
[[gnu::always_inline]] inline void equilibrium(double density, double k, double j, double i,
                                               Use const& use) noexcept {
  double const still = 1 - 1.5 * (k * k + j * j + i * i);
  for_each_direction([&](auto n) {
    constexpr Direction d = directions[n];
    double along = 0;
    if constexpr (d.k != 0) along += times<d.k>(k);
    if constexpr (d.j != 0) along += times<d.j>(j);
    if constexpr (d.i != 0) along += times<d.i>(i);
    use(n, d.weight * density * (still + along * (3 + 4.5 * along)));
  });
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
    equilibrium(1 + 0.01 * wave(i), 0.05 * wave(j), 0.05 * wave(k), 0,
                [&](auto n, double value) { c.f[n] = value; });
    return c;
  });
  double const before_all = mass(grid, side, nullptr);
  auto o =
      run(grid, steps, [](std::size_t, auto const& now, auto const& before, nigh::box<3> const& b) {
        constexpr double relaxation = 1.2;
        Bounds<3> const in(b);
        for (auto k = in.begin[0]; k < in.end[0]; ++k)
          for (auto j = in.begin[1]; j < in.end[1]; ++j)
            for (auto i = in.begin[2]; i < in.end[2]; ++i) {
              std::array<double, q> f;
              for_each_direction([&](auto n) {
                constexpr Direction d = directions[n];
                f[n] = before(k - d.k, j - d.j, i - d.i).f[n];
              });
              Flow const m = flow_of(f);
              auto& to = now(k, j, i).f;
              double const part = 1 / m.density;
              equilibrium(m.density, m.k * part, m.j * part, m.i * part,
                          [&](auto n, double rest) { to[n] = f[n] + relaxation * (rest - f[n]); });
            }
      });
  Bits bits;
  o.conserved = mass(grid, side, &bits);
  o.expected = before_all;
  o.bits = bits.sum();
  return o;
}

}  // namespace stencils
