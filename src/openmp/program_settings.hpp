// SPDX-License-Identifier: Apache-2.0
#pragma once
// The calls by which a program sets up its runtime: sizes of teams (omp_set_dynamic,
// omp_set_num_threads) and levels of nesting (omp_set_max_active_levels, omp_set_nested). The shim
// hears them and passes them on.
//
// omp_set_dynamic(0) and omp_set_num_threads() bind nigh, for the thread that calls them, as they
// bind its runtime. omp_get_dynamic() says yes where teams of the calling object may be smaller, by
// the user's word or because that was tried. OpenMP begins with one active level: regions begun
// inside another one have no threads of their own.

#include "openmp/runtimes.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// Whether the environment (OMP_MAX_ACTIVE_LEVELS, OMP_NESTED) or, so far, the program
// (omp_set_max_active_levels, omp_set_nested) has set the number of levels.
NIGH_HIDDEN bool levels_are_said() noexcept;

// Two levels for the calling thread's next region. The result undoes it; -1: there is no need.
NIGH_HIDDEN int lift_levels(Runtime const&) noexcept;

}  // namespace nigh::openmp
