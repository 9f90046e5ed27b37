// SPDX-License-Identifier: Apache-2.0
#include "jacobi3d/kernel.hpp"

#include <vector>

#include "jacobi3d/kernel_tables.hpp"
#include "variants.hpp"

namespace jacobi3d {

namespace {

std::vector<Kernel> runnable() {
  std::vector<Kernel> list;
  auto const add = [&](std::string_view isa, KernelPair const& pair) {
    list.push_back({isa, false, pair.plain, pair.two_steps_plain, pair.in_tile});
    if (pair.streaming != nullptr)
      list.push_back({isa, true, pair.streaming, pair.two_steps_streaming, pair.in_tile});
  };
  add("baseline", baseline_kernels());
#if defined(__x86_64__)
  if (workloads::runs_here("avx2")) add("avx2", avx2_kernels());
  if (workloads::runs_here("avx512")) add("avx512", avx512_kernels());
#endif
  return list;
}

}  // namespace

std::span<Kernel const> kernels() {
  static std::vector<Kernel> const list = runnable();
  return list;
}

Kernel const* find_kernel(std::string_view isa, bool streaming) {
  Kernel const* found = nullptr;
  for (Kernel const& k : kernels())
    if (k.streaming == streaming && (isa.empty() || k.isa == isa)) found = &k;
  return found;
}

}  // namespace jacobi3d
