// SPDX-License-Identifier: Apache-2.0
#include "jacobi3d/variant.hpp"

namespace jacobi3d {

#if !defined(NIGH_WITH_OPENMP)
void add_openmp_worksharing(std::vector<VariantInfo>& list) {
  for (char const* name : {"openmp/static", "openmp/dynamic", "openmp/guided"})
    list.push_back({name, false, nullptr, "the compiler had no OpenMP"});
}
void add_openmp_tasks(std::vector<VariantInfo>& list) {
  list.push_back({"openmp/tasks", true, nullptr, "the compiler had no OpenMP"});
}
void add_openmp_locality_queues(std::vector<VariantInfo>& list) {
  list.push_back({"openmp/tasks+queues", true, nullptr, "the compiler had no OpenMP"});
}
#endif

#if !defined(NIGH_WITH_TBB)
void add_tbb(std::vector<VariantInfo>& list) {
  for (char const* name : {"tbb/blocks", "tbb/domain-arenas"})
    list.push_back({name, false, nullptr, "this was built without oneTBB"});
}
#endif

std::vector<VariantInfo> const& variants() {
  static std::vector<VariantInfo> const list = [] {
    std::vector<VariantInfo> all;
    add_serial(all);
    add_openmp_worksharing(all);
    add_openmp_tasks(all);
    add_openmp_locality_queues(all);
    add_tbb(all);
    add_nigh(all);
    add_nigh_loops(all);
    add_nigh_two_steps(all);
    return all;
  }();
  return list;
}

VariantInfo const* find_variant(std::string_view name) {
  auto const plain = [](std::string_view n) {  // "openmp-gcc/static" -> "/static"
    return n.starts_with("openmp") ? n.substr(std::min(n.find('/'), n.size())) : n;
  };
  for (VariantInfo const& v : variants())
    if (v.name == name || (name.starts_with("openmp/") && plain(v.name) == plain(name) &&
                           v.name.starts_with("openmp")))
      return &v;
  return nullptr;
}

}  // namespace jacobi3d
