// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which families were built into this program, and how a problem calls the right one.

#include <stdexcept>
#include <utility>

#include "workloads/problem.hpp"

namespace workloads {

#if defined(NIGH_WITH_OPENMP)
inline constexpr bool has_openmp = true;
#else
inline constexpr bool has_openmp = false;
#endif
#if defined(NIGH_WITH_TBB)
inline constexpr bool has_tbb = true;
#else
inline constexpr bool has_tbb = false;
#endif
#if defined(NIGH_PEER)  // the program that holds another compiler's OpenMP holds nothing else
inline constexpr bool has_nigh = false;
#else
inline constexpr bool has_nigh = true;
#endif

// Calls the family's function. Those of families that were not built need no definition.
template <auto serial, auto openmp, auto tbb, auto nigh, class... A>
auto call(Family family, A&&... arguments) {
  if (family == Family::serial) return serial(std::forward<A>(arguments)...);
  if constexpr (has_openmp)
    if (family == Family::openmp) return openmp(std::forward<A>(arguments)...);
  if constexpr (has_tbb)
    if (family == Family::tbb) return tbb(std::forward<A>(arguments)...);
  if constexpr (has_nigh)
    if (family == Family::nigh) return nigh(std::forward<A>(arguments)...);
  throw std::logic_error(name_of(family) + ": " + why_absent(family));
}

}  // namespace workloads
