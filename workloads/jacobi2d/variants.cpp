// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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
  auto const plain = [](std::string_view n) {  // "openmp-gcc/rows" -> "/rows"
    return n.starts_with("openmp") ? n.substr(std::min(n.find('/'), n.size())) : n;
  };
  for (VariantInfo const& v : variants())
    if (v.name == name || (name.starts_with("openmp/") && plain(v.name) == plain(name) &&
                           v.name.starts_with("openmp")))
      return &v;
  return nullptr;
}

}  // namespace jacobi2d
