// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run: first values, iterations, checksum. In parts, for processes that wait for each other.

#include <cstdint>

#include "jacobi2d/variant.hpp"

namespace jacobi2d {

void fill(Variant& variant, Blocks& blocks);
double iterate(Variant& variant, Blocks& blocks, int iterations);  // seconds; may be called again
std::uint64_t checksum(Variant& variant, Blocks& blocks);

}  // namespace jacobi2d
