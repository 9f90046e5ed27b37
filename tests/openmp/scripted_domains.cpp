// SPDX-License-Identifier: Apache-2.0
// A machine of two domains, for any host: thread k of a team is on cpu k, which is in domain k % 2, and
// so is the memory at a multiple of 64 KiB whose number has that remainder.

#include "openmp/tasks/real.hpp"
#include "platform/cpu_places.hpp"

namespace nigh::platform {
namespace {
constinit openmp::tasks::Real thread_num{"omp_get_thread_num"};
}

std::uint32_t domains() noexcept { return 2; }

int cpu_of_thread() noexcept {
  return reinterpret_cast<int (*)()>(thread_num.find(nullptr))();
}

CpuPlace place_of(int cpu) noexcept {
  auto const itself = static_cast<std::uint16_t>(cpu), domain = static_cast<std::uint16_t>(cpu % 2);
  return {itself, itself, itself, domain, domain};
}

std::uint32_t distance_of_domains(std::uint32_t from, std::uint32_t to) noexcept {
  return from == to ? 10 : 20;
}

int domain_of(void const* address) noexcept {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) >> 16U & 1U);
}

}  // namespace nigh::platform
