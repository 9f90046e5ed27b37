// SPDX-License-Identifier: Apache-2.0
#pragma once
// The OpenMP variants: their family's name, and a team that stays on its cpus.

#include <omp.h>

#include <string>

#include "jacobi3d/variant.hpp"

namespace jacobi3d {

inline std::string openmp_name(char const* schedule) {
#if defined(__clang__)
  return std::string("openmp-clang/") + schedule;
#else
  return std::string("openmp-gcc/") + schedule;
#endif
}

// Both runtimes keep their threads, and the numbers of them, from region to region as long as the
// number of threads does not change. So it is enough to pin them once.
inline void pin_openmp_team(Team const& team) {
#pragma omp parallel num_threads(team.threads())
  team.pin_thread(omp_get_thread_num());
}

}  // namespace jacobi3d
