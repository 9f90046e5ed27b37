// SPDX-License-Identifier: Apache-2.0
#pragma once
// The coarse rows whose mean lies on a fine row.

#include <span>

#include "npb_mg/kernel.hpp"

namespace npb_mg {

// A fine row (j, k) with even j lies on the coarse row j / 2, one with odd j between two of them;
// and so in k. plane(kc) is the coarse plane kc.
class CoarseRows {
 public:
  template <class PlaneOf>
  CoarseRows(std::ptrdiff_t j, std::ptrdiff_t k, PlaneOf const& plane) {
    for (auto kc = k / 2; kc <= (k + 1) / 2; ++kc)
      for (auto jc = j / 2; jc <= (j + 1) / 2; ++jc) row_[count_++] = plane(kc)[jc];
  }
  // The same where row and plane 0 are not there: they repeat those of index n.
  template <class PlaneOf>
  CoarseRows(std::ptrdiff_t j, std::ptrdiff_t k, std::ptrdiff_t n, PlaneOf const& plane) {
    for (auto kc = k / 2; kc <= (k + 1) / 2; ++kc)
      for (auto jc = j / 2; jc <= (j + 1) / 2; ++jc)
        row_[count_++] = plane(kc == 0 ? n : kc)[jc == 0 ? n : jc];
  }
  std::span<double const* const> rows() const noexcept { return {row_, count_}; }

 private:
  double const* row_[4];
  std::size_t count_ = 0;
};

}  // namespace npb_mg
