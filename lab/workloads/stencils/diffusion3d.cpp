// SPDX-License-Identifier: Apache-2.0
#include "stencils/run.hpp"

namespace stencils {

namespace {

// A point: its value, and how well it conducts, which stays.
struct Point {
  double value, conductivity;
  bool operator==(Point const&) const = default;
};

double flow(Point const& here, Point const& there) noexcept {
  return 0.5 * (here.conductivity + there.conductivity) * (there.value - here.value);
}

}  // namespace

Outcome diffusion3d(std::size_t side, std::size_t steps, nigh::stencil_options const& how) {
  nigh::time_grid<Point, 3> u({side, side, side}, {.tiles = how});
  u.fill([](std::ptrdiff_t k, std::ptrdiff_t j, std::ptrdiff_t i) {
    auto const mixed = static_cast<std::uint64_t>((k * 73 + j * 179 + i * 283) & 1023);
    return Point{static_cast<double>(mixed) / 1024, (k / 8 + j / 8 + i / 8) % 2 == 0 ? 1.0 : 0.1};
  });
  auto o =
      run(u, steps, [](std::size_t, auto const& now, auto const& before, nigh::box<3> const& b) {
        constexpr double c = 0.1;
        Bounds<3> const in(b);
        auto const row = before.stride(1), plane = before.stride(0);
        for (auto k = in.begin[0]; k < in.end[0]; ++k)
          for (auto j = in.begin[1]; j < in.end[1]; ++j) {
            Point* const to = &now(k, j, 0);
            Point const* const at = &before(k, j, 0);
            for (auto i = in.begin[2]; i < in.end[2]; ++i) {
              Point const* const p = at + i;
              double sum = flow(*p, p[-1]) + flow(*p, p[1]);
              sum += flow(*p, p[-row]) + flow(*p, p[row]);
              sum += flow(*p, p[-plane]) + flow(*p, p[plane]);
              to[i] = {p->value + c * sum, p->conductivity};
            }
          }
      });
  Bits bits;
  for (std::size_t k = 0; k < side; ++k)
    for (std::size_t j = 0; j < side; ++j)
      for (std::size_t i = 0; i < side; ++i) bits.add(u.values()(k, j, i).value);
  o.bits = bits.sum();
  return o;
}

}  // namespace stencils
