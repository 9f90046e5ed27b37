// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the sorts divide their work; the variants differ only in who does the parts.

#include <algorithm>
#include <cstddef>

#include "sort/config.hpp"

namespace sort {

struct Halves {
  Numbers low, high;
};

inline Halves halves(Numbers all) noexcept {
  return {all.first(all.size() / 2), all.subspan(all.size() / 2)};
}

struct Merge {
  Sorted a, b;
  Numbers to;  // as many as a and b together

  bool small() const noexcept { return to.size() <= leaf; }
  void run() const;
};

// Two merges that together do this one: everything below the middle of the longer input, and the
// rest.
struct MergeHalves {
  Merge low, high;
};

inline MergeHalves halves(Merge m) noexcept {
  if (m.a.size() < m.b.size()) std::swap(m.a, m.b);
  std::size_t const middle = m.a.size() / 2;
  auto const at = std::lower_bound(m.b.begin(), m.b.end(), m.a[middle]) - m.b.begin();
  auto const below = static_cast<std::size_t>(at);
  return {{m.a.first(middle), m.b.first(below), m.to.first(middle + below)},
          {m.a.subspan(middle), m.b.subspan(below), m.to.subspan(middle + below)}};
}

// Around the median of three; what equals it is in neither part, so equal numbers do not degrade
// it.
Halves partition(Numbers all);

void sort_leaf(Numbers all);

}  // namespace sort
