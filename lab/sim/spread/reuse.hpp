// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much of what was touched once is still in a cache when it is touched again.

#include <cmath>

namespace nigh::sim {

// Of a set that is gone through again and again in a cache that replaces at random. A line is found
// if it has outlived the misses since its last use, h = exp(-(1 - h) x set / cache), whose solution
// below 1 exists from set > cache on. A cache that replaces the least recently used line would
// fall from all to nothing at once; those of today do neither.
inline double kept_share(double set_bytes, double cache_bytes) noexcept {
  if (set_bytes <= cache_bytes) return 1;
  if (cache_bytes <= 0) return 0;
  double const ratio = set_bytes / cache_bytes;
  double low = 0, high = 1 - 1e-12;
  for (int i = 0; i < 60; ++i) {
    double const h = (low + high) / 2;
    (std::exp(-(1 - h) * ratio) > h ? low : high) = h;
  }
  // At 1 the equation always holds; the root looked for lies where the curve is crossed before.
  return low;
}

}  // namespace nigh::sim
