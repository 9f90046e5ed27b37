// SPDX-License-Identifier: Apache-2.0
#include "jacobi2d/kernel.hpp"

#include <vector>

namespace jacobi2d {

std::span<Kernel const> kernels() {
  static std::vector<Kernel> const list = [] {
    std::vector<Kernel> runnable{baseline_kernel()};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) runnable.push_back(avx2_kernel());
    if (__builtin_cpu_supports("avx512f")) runnable.push_back(avx512_kernel());
#endif
    return runnable;
  }();
  return list;
}

Kernel const* find_kernel(std::string_view isa) {
  Kernel const* found = nullptr;
  for (Kernel const& k : kernels())
    if (isa.empty() || k.isa == isa) found = &k;
  return found;
}

}  // namespace jacobi2d
