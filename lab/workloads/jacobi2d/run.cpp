// SPDX-License-Identifier: Apache-2.0
#include "jacobi2d/run.hpp"

#include <chrono>

namespace jacobi2d {

void fill(Variant& variant, Blocks& blocks) {
  variant.inside([&] { variant.run(blocks.fill()); });
}

double iterate(Variant& variant, Blocks& blocks, int iterations) {
  std::chrono::duration<double> took{};
  variant.inside([&] {
    auto const start = std::chrono::steady_clock::now();
    for (int i = 0; i < iterations; ++i) {
      blocks.begin_iteration();
      variant.run(blocks.visit());
      blocks.end_iteration();
    }
    took = std::chrono::steady_clock::now() - start;
  });
  return took.count();
}

std::uint64_t checksum(Variant& variant, Blocks& blocks) {
  variant.inside([&] { variant.run(blocks.checksums()); });
  return blocks.checksum();
}

}  // namespace jacobi2d
