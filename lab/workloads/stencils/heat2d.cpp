// SPDX-License-Identifier: Apache-2.0
#include "stencils/run.hpp"

namespace stencils {

Outcome heat2d(std::size_t side, std::size_t steps, nigh::stencil_options const& how) {
  nigh::time_grid<double, 2> u(
      {side, side},
      {.boundaries = {nigh::boundary::fixed, nigh::boundary::periodic}, .tiles = how});
  auto const middle = static_cast<std::ptrdiff_t>(side / 2);
  u.fill([&](std::ptrdiff_t j, std::ptrdiff_t i) {
    return j < 0 ? 1.0 : (j == middle && i % 7 == 0 ? 5.0 : 0.0);
  });
  auto o =
      run(u, steps, [](std::size_t, auto const& now, auto const& before, nigh::box<2> const& b) {
        constexpr double c = 0.2;  // dt k / h^2
        Bounds<2> const in(b);
        for (auto j = in.begin[0]; j < in.end[0]; ++j) {
          double* const to = &now(j, 0);
          double const* const at = &before(j, 0);
          double const* const above = &before(j - 1, 0);
          double const* const below = &before(j + 1, 0);
          for (auto i = in.begin[1]; i < in.end[1]; ++i)
            to[i] = at[i] + c * (above[i] + below[i] + at[i - 1] + at[i + 1] - 4 * at[i]);
        }
      });
  Bits bits;
  for (std::size_t j = 0; j < side; ++j)
    for (std::size_t i = 0; i < side; ++i) bits.add(u.values()(j, i));
  o.bits = bits.sum();
  return o;
}

}  // namespace stencils
