// SPDX-License-Identifier: Apache-2.0
#pragma once
// VictimOrder: which victims does a worker without tasks ask, and in which order?

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace nigh::policy {

// Candidates sorted by distance from `self`, nearest first, without `self`. Equally distant ones
// follow each other in a ring that starts after self, so that different thieves do not all ask the
// same victim (the plain ring (self + 1) % n of locality queues on ccNUMA is the special case of
// equal distances).
inline std::vector<int> victim_order(int self, std::span<double const> distance_to) {
  auto const n = static_cast<int>(distance_to.size());
  std::vector<int> ring;
  for (int step = 1; step < n; ++step) ring.push_back((self + step) % n);
  std::stable_sort(ring.begin(), ring.end(), [&](int a, int b) {
    return distance_to[static_cast<std::size_t>(a)] < distance_to[static_cast<std::size_t>(b)];
  });
  return ring;
}

}  // namespace nigh::policy
