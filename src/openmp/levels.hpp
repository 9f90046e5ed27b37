// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether regions that are begun inside another one have threads of their own, and whose decision
// that is. OpenMP begins with one active level: they have not.

#include "openmp/runtimes.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// By the environment (OMP_MAX_ACTIVE_LEVELS, OMP_NESTED) or, so far, by the program
// (omp_set_max_active_levels, omp_set_nested).
NIGH_HIDDEN bool levels_are_said() noexcept;

// For the calling thread's next region. Undone by what is returned; -1: there is no need.
NIGH_HIDDEN int lift_levels(Runtime const&) noexcept;

}  // namespace nigh::openmp
