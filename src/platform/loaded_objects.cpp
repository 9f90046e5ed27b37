// SPDX-License-Identifier: Apache-2.0
#include "platform/loaded_objects.hpp"

#include <elf.h>
#include <link.h>
#include <string.h>

#include <cstddef>
#include <cstdint>

namespace nigh::platform {
namespace {

std::uint32_t count_of_symbols(ElfW(Dyn) const* dynamic, ElfW(Addr) base) noexcept {
  auto const at = [base](ElfW(Addr) p) { return p < base ? p + base : p; };
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_GNU_HASH)  // those without a definition come before the hashed ones
      return reinterpret_cast<std::uint32_t const*>(at(dynamic->d_un.d_ptr))[1];
    if (dynamic->d_tag == DT_HASH)
      return reinterpret_cast<std::uint32_t const*>(at(dynamic->d_un.d_ptr))[1];
  }
  return 0;
}

struct Visit {
  SeeImport see;
  void* context;
};

int look_at(dl_phdr_info* object, std::size_t, void* p) {
  auto const& visit = *static_cast<Visit*>(p);
  ElfW(Dyn) const* dynamic = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic =
          reinterpret_cast<ElfW(Dyn) const*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  // The kernel's own object (vdso) has addresses that nobody has relocated, and calls nothing.
  if (dynamic == nullptr || object->dlpi_name == nullptr ||
      strstr(object->dlpi_name, "linux-vdso") != nullptr)
    return 0;
  ElfW(Sym) const* symbols = nullptr;
  char const* names = nullptr;
  auto const base = object->dlpi_addr;
  auto const at = [base](ElfW(Addr) where) { return where < base ? where + base : where; };
  for (auto const* d = dynamic; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_SYMTAB) symbols = reinterpret_cast<ElfW(Sym) const*>(at(d->d_un.d_ptr));
    if (d->d_tag == DT_STRTAB) names = reinterpret_cast<char const*>(at(d->d_un.d_ptr));
  }
  if (symbols == nullptr || names == nullptr) return 0;
  auto const count = count_of_symbols(dynamic, base);
  for (std::uint32_t i = 1; i < count; ++i)
    if (symbols[i].st_shndx == SHN_UNDEF) visit.see(names + symbols[i].st_name, visit.context);
  return 0;
}

int count_objects(dl_phdr_info* object, std::size_t bytes, void* result) {
  if (bytes >= offsetof(dl_phdr_info, dlpi_adds) + sizeof object->dlpi_adds)
    *static_cast<unsigned long long*>(result) = object->dlpi_adds;
  return 1;
}

}  // namespace

unsigned long long times_loaded() noexcept {
  unsigned long long times = 0;
  dl_iterate_phdr(count_objects, &times);
  return times;
}

void for_each_import(SeeImport see, void* context) noexcept {
  Visit visit{see, context};
  dl_iterate_phdr(look_at, &visit);
}

}  // namespace nigh::platform
