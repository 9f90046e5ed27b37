// SPDX-License-Identifier: Apache-2.0
// A machine of two domains, for any host: thread k of a team is in domain k % 2, and so is the memory
// at a multiple of 64 KiB whose number has that remainder.

#include "openmp/tasks/real.hpp"
#include "platform/plain_domains.hpp"

namespace nigh::platform {
namespace {
constinit openmp::tasks::Real thread_num{"omp_get_thread_num"};
}

std::uint32_t domains() noexcept { return 2; }

std::uint32_t domain_of_thread() noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<int (*)()>(thread_num.find(nullptr))()) % 2;
}

int domain_of(void const* address) noexcept {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) >> 16U & 1U);
}

}  // namespace nigh::platform
