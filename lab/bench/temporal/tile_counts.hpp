// SPDX-License-Identifier: Apache-2.0
#pragma once
// How tiles and threads met.

#include <cstdint>
#include <vector>

#include "bench/jacobi3d/problem.hpp"

namespace bench {

// Of a run of so many steps in tiles of this width: those run in the domain where the kernel says
// that their middle lies, and elsewhere; unknown, where it does not say or several domains have run
// parts of one. wrote_in: see jacobi3d::Sweep.
BlockCounts count_tiles(Problem& problem, int width, int steps, nigh::topology const& machine,
                        std::vector<std::int16_t> const& wrote_in);

}  // namespace bench
