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

struct Search {
  std::uintptr_t address;
  LoadedObject found;
};

int look_for(dl_phdr_info* object, std::size_t, void* p) {
  auto& search = *static_cast<Search*>(p);
  LoadedObject all{object->dlpi_name, object->dlpi_addr, UINTPTR_MAX, 0};
  bool is_there = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    auto const& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    std::uintptr_t const begin = object->dlpi_addr + part.p_vaddr, end = begin + part.p_memsz;
    is_there |= begin <= search.address && search.address < end;
    all.begin = begin < all.begin ? begin : all.begin;
    all.end = end > all.end ? end : all.end;
  }
  if (is_there) search.found = all;
  return is_there ? 1 : 0;
}

}  // namespace

LoadedObject find_object(void const* code) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(code), {}};
  dl_iterate_phdr(look_for, &search);
  return search.found;
}

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
