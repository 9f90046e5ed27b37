// SPDX-License-Identifier: Apache-2.0
#include "sort/steps.hpp"

namespace sort {

void Merge::run() const { std::merge(a.begin(), a.end(), b.begin(), b.end(), to.begin()); }

Halves partition(Numbers all) {
  std::uint32_t const x = all.front(), y = all[all.size() / 2], z = all.back();
  std::uint32_t const pivot = std::max(std::min(x, y), std::min(std::max(x, y), z));
  auto const below =
      std::partition(all.begin(), all.end(), [pivot](std::uint32_t n) { return n < pivot; });
  auto const above =
      std::partition(below, all.end(), [pivot](std::uint32_t n) { return n == pivot; });
  return {Numbers(all.begin(), below), Numbers(above, all.end())};
}

void sort_leaf(Numbers all) { std::sort(all.begin(), all.end()); }

}  // namespace sort
