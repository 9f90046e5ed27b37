// SPDX-License-Identifier: Apache-2.0
#include "variants.hpp"

#include "npb_mg/variant.hpp"

namespace npb_mg {

#if !defined(NIGH_WITH_OPENMP)
void add_openmp(std::vector<VariantInfo>& list) {
  for (char const* name : {"openmp/static", "openmp/dynamic", "openmp/runtime"})
    list.push_back({name, nullptr, "the compiler had no OpenMP"});
}
#endif

#if !defined(NIGH_WITH_TBB)
void add_tbb(std::vector<VariantInfo>& list) {
  for (char const* name : {"tbb/static", "tbb/auto"})
    list.push_back({name, nullptr, "this was built without oneTBB"});
}
#endif

#if !defined(NIGH_WITH_CILK)
void add_cilk(std::vector<VariantInfo>& list) {
  list.push_back({"cilk/for", nullptr, "the compiler was not OpenCilk's"});
}
#endif

#if !defined(NIGH_WITH_FASTFLOW)
void add_fastflow(std::vector<VariantInfo>& list) {
  for (char const* name : {"fastflow/static", "fastflow/dynamic"})
    list.push_back({name, nullptr, "this was built without FastFlow's headers"});
}
#endif

std::vector<VariantInfo> const& variants() {
  static std::vector<VariantInfo> const list = [] {
    std::vector<VariantInfo> all;
    add_serial(all);
    add_openmp(all);
    add_tbb(all);
    add_cilk(all);
    add_fastflow(all);
    add_nigh(all);
    add_nigh_fused(all);
    return all;
  }();
  return list;
}

VariantInfo const* find_variant(std::string_view name) {
  return workloads::find_variant(variants(), name);
}

}  // namespace npb_mg
