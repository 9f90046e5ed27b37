// SPDX-License-Identifier: Apache-2.0
#pragma once
// Solid bricks in the grid: their sites keep their values, and cost nothing. They lie in the first
// half of the planes, so that equal shares of planes are unequal work.

#include "jacobi3d/kernel.hpp"

namespace bench {

// The same kernel that leaves these bricks out; for one grid at a time.
jacobi3d::Kernel around_obstacles(jacobi3d::Kernel const& kernel, jacobi3d::Extent const& grid);

double free_share();  // of all sites

}  // namespace bench
