// SPDX-License-Identifier: Apache-2.0
#include "workloads/families.hpp"

namespace workloads {

std::string name_of(Family family) {
  switch (family) {
    case Family::serial:
      return "serial";
    case Family::openmp:
#if defined(__clang__)
      return "openmp-clang";
#else
      return "openmp-gcc";
#endif
    case Family::tbb:
      return "tbb";
    case Family::nigh:
      return "nigh";
  }
  return "?";
}

std::string why_absent(Family family) {
  if (family == Family::openmp && !has_openmp) return "the compiler had no OpenMP";
  if (family == Family::tbb && !has_tbb) return "this was built without oneTBB";
  if (family == Family::nigh && !has_nigh) return "this program was built without it";
  return {};
}

}  // namespace workloads
