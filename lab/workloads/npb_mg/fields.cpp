// SPDX-License-Identifier: Apache-2.0
#include "npb_mg/fields.hpp"

#include <algorithm>

namespace npb_mg {

namespace {

std::size_t elements(std::vector<Level> const& levels) {
  std::size_t sum = 0;
  for (Level const& level : levels) sum += level.elements();
  return sum;
}

}  // namespace

Fields::Fields(Class const& size, Placing const& placing)
    : levels_(levels_of(size.n)), touch_(placing.touch) {
  nigh::array_options options;
  options.machine = placing.machine;
  options.huge_pages = placing.huge_pages;
  u_ = nigh::array<double>(elements(levels_), placing.rule, options);
  r_ = nigh::array<double>(elements(levels_), placing.rule, options);
  v_ = nigh::array<double>(finest().elements(), placing.rule, options);
}

void Fields::clear(double* all, Level const& level, std::ptrdiff_t k) noexcept {
  double* const first = all + level.offset + k * level.layout.plane;
  std::ptrdiff_t const doubles =
      k <= level.n ? level.layout.plane
                   : static_cast<std::ptrdiff_t>(level.elements()) - k * level.layout.plane;
  std::fill_n(first, doubles, 0.0);
}

void Fields::put(Charges const& charges) noexcept {
  for (auto const& [i, j, k] : charges.minus) v(k)[j][i - 1] = -1;
  for (auto const& [i, j, k] : charges.plus) v(k)[j][i - 1] = 1;
}

}  // namespace npb_mg
