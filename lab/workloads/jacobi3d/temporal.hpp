// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several time steps in tiles (nigh::stencil).

#include <nigh/stencil.hpp>

#include "jacobi3d/variant.hpp"

namespace jacobi3d {

// The sweep's steps; the result is in s.to if they are odd, else in s.from. Returns how it was
// done.
nigh::stencil_plan sweep_in_tiles(Sweep const& s, nigh::stencil_options const& options);

}  // namespace jacobi3d
