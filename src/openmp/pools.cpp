// SPDX-License-Identifier: Apache-2.0
#include "openmp/pools.hpp"

#include <errno.h>
#include <link.h>
#include <stdio.h>

#include <array>
#include <cstdint>

#include "policy/thread_pools.hpp"

namespace nigh::openmp {
namespace {

using policy::ThreadPool;

struct Found {
  std::array<ThreadPool const*, policy::thread_pools.size() + 1> pools{};
  std::size_t count = 0;
};

bool needs_openmp(dl_phdr_info const& object, ElfW(Phdr) const& dynamic) {
  auto const* const entries =
      reinterpret_cast<ElfW(Dyn) const*>(object.dlpi_addr + dynamic.p_vaddr);
  char const* strings = nullptr;
  for (auto const* e = entries; e->d_tag != DT_NULL; ++e)
    // The loader has put an address there, but not for every object (the kernel's own page).
    if (e->d_tag == DT_STRTAB && e->d_un.d_ptr >= object.dlpi_addr)
      strings = reinterpret_cast<char const*>(e->d_un.d_ptr);
  if (strings == nullptr) return false;
  for (auto const* e = entries; e->d_tag != DT_NULL; ++e)
    if (e->d_tag == DT_NEEDED && policy::is_openmp_runtime(strings + e->d_un.d_val)) return true;
  return false;
}

bool holds_rayon(dl_phdr_info const& object, ElfW(Phdr) const& segment) {
  if ((segment.p_flags & PF_R) == 0 || (segment.p_flags & (PF_W | PF_X)) != 0) return false;
  auto const* const bytes = reinterpret_cast<char const*>(object.dlpi_addr + segment.p_vaddr);
  return policy::holds_rayon({bytes, segment.p_filesz});
}

int look_at(dl_phdr_info* object, std::size_t, void* p) {
  auto& found = *static_cast<Found*>(p);
  policy::LoadedFile loaded{object->dlpi_name != nullptr ? object->dlpi_name : ""};
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    auto const& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_DYNAMIC) loaded.needs_openmp |= needs_openmp(*object, segment);
    if (segment.p_type == PT_LOAD) loaded.holds_rayon |= holds_rayon(*object, segment);
  }
  ThreadPool const* const pool = policy::pool_in(loaded);
  if (pool == nullptr) return 0;
  for (std::size_t i = 0; i < found.count; ++i)
    if (found.pools[i]->name == pool->name) return 0;
  if (found.count < found.pools.size()) found.pools[found.count++] = pool;
  return 0;
}

}  // namespace

void tell_pools() noexcept {
  Found found;
  dl_iterate_phdr(look_at, &found);
  if (found.count == 0) return;
  fprintf(stderr, "nigh: %s: threads on no granted cpus:", program_invocation_short_name);
  for (std::size_t i = 0; i < found.count; ++i) {
    ThreadPool const& pool = *found.pools[i];
    fprintf(stderr, "%s %.*s", i == 0 ? "" : ",", static_cast<int>(pool.name.size()),
            pool.name.data());
    if (!pool.variable.empty())
      fprintf(stderr, " (%.*s)", static_cast<int>(pool.variable.size()), pool.variable.data());
  }
  fprintf(stderr, "\n");
}

}  // namespace nigh::openmp
