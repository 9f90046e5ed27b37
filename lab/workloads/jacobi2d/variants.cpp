// SPDX-License-Identifier: Apache-2.0
#include "variants.hpp"

#include "jacobi2d/variant.hpp"

namespace jacobi2d {

#if !defined(NIGH_WITH_OPENMP)
void add_openmp(std::vector<VariantInfo>& list) {
  for (char const* name : {"openmp/blocks", "openmp/rows", "openmp/nested"})
    list.push_back({.name = name, .why_absent = "the compiler had no OpenMP"});
}
#endif

std::vector<VariantInfo> const& variants() {
  static std::vector<VariantInfo> const list = [] {
    std::vector<VariantInfo> all;
    add_serial(all);
    add_openmp(all);
    add_nigh(all);
    return all;
  }();
  return list;
}

VariantInfo const* find_variant(std::string_view name) {
  return workloads::find_variant(variants(), name);
}

}  // namespace jacobi2d
