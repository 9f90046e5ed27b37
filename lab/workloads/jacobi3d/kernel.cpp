// SPDX-License-Identifier: Apache-2.0
#include "jacobi3d/kernel.hpp"

#include <nigh/topology.hpp>
#include <vector>

#include "variants.hpp"

namespace jacobi3d {

namespace {

// Of the first core below; 0 where the system does not tell.
std::uint64_t l1_bytes(nigh::topology_object const& o) noexcept {
  if (o.name == "L1d") return o.size_bytes;
  for (auto const& child : o.children)
    if (auto const bytes = l1_bytes(child); bytes > 0) return bytes;
  return 0;
}

std::vector<Kernel> runnable() {
  std::vector<Kernel> list;
  auto const together = planes_together(l1_bytes(nigh::this_host().root()));
  auto const add = [&](std::string_view isa, KernelPair const& pair) {
    list.push_back({isa, false, pair.plain, pair.two_steps_plain, pair.in_tile, together});
    if (pair.streaming != nullptr)
      list.push_back({isa, true, pair.streaming, pair.two_steps_streaming, pair.in_tile, together});
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

// The lines that two steps touch around a line, some of four rows and those beside them in both
// copies, have to fit L1. Measured: with 48 KiB up to 34 planes go 1.3 times as fast out of L2 as
// one by one; with 32 KiB tiles are a tenth slower so, with at most 18 planes no faster.
std::ptrdiff_t planes_together(std::uint64_t l1_bytes) noexcept {
  constexpr std::uint64_t enough = 48 << 10;
  return l1_bytes < enough ? 0 : 34;
}

Kernel const* find_kernel(std::string_view isa, bool streaming) {
  Kernel const* found = nullptr;
  for (Kernel const& k : kernels())
    if (k.streaming == streaming && (isa.empty() || k.isa == isa)) found = &k;
  return found;
}

}  // namespace jacobi3d
