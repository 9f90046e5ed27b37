// SPDX-License-Identifier: Apache-2.0
#include "jacobi2d/kernel.hpp"

#include "variants.hpp"

namespace jacobi2d {

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

}  // namespace jacobi2d
