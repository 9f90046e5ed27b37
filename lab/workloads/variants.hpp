// SPDX-License-Identifier: Apache-2.0
#pragma once
// Variants of a workload by their names, and kernels by instruction set.

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace workloads {

// Null: there is none. "openmp/..." stands for whichever compiler's OpenMP is there.
template <class Info>
Info const* find_variant(std::vector<Info> const& variants, std::string_view name) {
  auto const plain = [](std::string_view n) {  // "openmp-gcc/static" -> "/static"
    return n.starts_with("openmp") ? n.substr(std::min(n.find('/'), n.size())) : n;
  };
  for (Info const& v : variants)
    if (v.name == name || (name.starts_with("openmp/") && plain(v.name) == plain(name) &&
                           v.name.starts_with("openmp")))
      return &v;
  return nullptr;
}

// Whether this processor runs what is compiled for "baseline", "avx2" or "avx512".
inline bool runs_here(std::string_view isa) {
#if defined(__x86_64__)
  if (isa == "avx2") return __builtin_cpu_supports("avx2") != 0;
  if (isa == "avx512") return __builtin_cpu_supports("avx512f") != 0;
#endif
  return isa == "baseline";
}

// Of those, widest last, the ones that run here. The functions of others are not called, for they
// are compiled like their kernels.
template <class Kernel>
std::vector<Kernel> runnable(
    std::initializer_list<std::pair<std::string_view, Kernel (*)() noexcept>> all) {
  std::vector<Kernel> list;
  for (auto const& [isa, make] : all)
    if (runs_here(isa)) list.push_back(make());
  return list;
}

// The last one of that name ("" means any); null: there is none.
template <class Kernel>
Kernel const* widest(std::span<Kernel const> kernels, std::string_view isa) {
  Kernel const* found = nullptr;
  for (Kernel const& k : kernels)
    if (isa.empty() || k.isa == isa) found = &k;
  return found;
}

}  // namespace workloads
