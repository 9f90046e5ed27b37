// SPDX-License-Identifier: Apache-2.0
#include "npb_mg/kernel.hpp"

#include "npb_mg/kernel_tables.hpp"
#include "variants.hpp"

namespace npb_mg {

std::span<Kernel const> kernels() {
  static auto const list = workloads::runnable<Kernel>({
      {"baseline", baseline_kernel},
#if defined(__x86_64__)
      {"avx2", avx2_kernel},
      {"avx512", avx512_kernel},
#endif
  });
  return list;
}

Kernel const* find_kernel(std::string_view isa) { return workloads::widest(kernels(), isa); }

}  // namespace npb_mg
