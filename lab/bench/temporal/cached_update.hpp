// SPDX-License-Identifier: Apache-2.0
#pragma once
// The limit of the cores alone: the update of tiles, without tiles.

#include "bench/crew.hpp"
#include "bench/jacobi3d/options.hpp"

namespace bench {

// MLUP/s of all threads together, each updating a box of its own (four rows in eight planes, 0.75
// MB in two copies), which stays in its core's caches; two steps, at once where tiles do that.
double cached_update_rate(JacobiOptions const& options, Crew& crew);

}  // namespace bench
