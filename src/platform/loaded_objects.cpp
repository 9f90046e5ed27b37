// SPDX-License-Identifier: Apache-2.0
#include "platform/loaded_objects.hpp"

#include <elf.h>
#include <link.h>
#include <string.h>

#include <cstddef>
#include <cstdint>

namespace nigh::platform {
namespace {

// Tables hold addresses in memory, or those of the file that the loader has not replaced.
ElfW(Addr) placed(ElfW(Addr) base, ElfW(Addr) where) noexcept {
  return where < base ? where + base : where;
}

struct Visit {
  SeeImport see;
  void* context;
};

struct Tables {
  ElfW(Sym) const* symbols = nullptr;
  char const* names = nullptr;
  ElfW(Dyn) const* dynamic = nullptr;
  std::uint32_t const* hashed = nullptr;  // DT_GNU_HASH
};

// Without symbols: there are none to see.
Tables tables_of(dl_phdr_info const& object) noexcept {
  Tables t;
  ElfW(Dyn) const* dynamic = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<ElfW(Dyn) const*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  // The kernel's own object (vdso) has addresses that nobody has relocated, and calls nothing.
  if (dynamic == nullptr || object.dlpi_name == nullptr ||
      strstr(object.dlpi_name, "linux-vdso") != nullptr)
    return {};
  auto const base = object.dlpi_addr;
  t.dynamic = dynamic;
  for (auto const* d = dynamic; d->d_tag != DT_NULL; ++d) {
    auto const where = placed(base, d->d_un.d_ptr);
    if (d->d_tag == DT_SYMTAB) t.symbols = reinterpret_cast<ElfW(Sym) const*>(where);
    if (d->d_tag == DT_STRTAB) t.names = reinterpret_cast<char const*>(where);
    if (d->d_tag == DT_GNU_HASH) t.hashed = reinterpret_cast<std::uint32_t const*>(where);
  }
  return t.symbols == nullptr || t.names == nullptr ? Tables{} : t;
}

// Calls see() for each relocation that names a symbol, which the object exports or takes.
template <class See>
void for_each_relocation(Tables const& t, ElfW(Addr) base, See see) noexcept {
  ElfW(Addr) plain = 0, jumps = 0;
  std::size_t plain_bytes = 0, jumps_bytes = 0;
  for (auto const* d = t.dynamic; d->d_tag != DT_NULL; ++d) {
    auto const where = placed(base, d->d_un.d_ptr);
    if (d->d_tag == DT_RELA) plain = where;
    if (d->d_tag == DT_RELASZ) plain_bytes = d->d_un.d_val;
    if (d->d_tag == DT_JMPREL) jumps = where;
    if (d->d_tag == DT_PLTRELSZ) jumps_bytes = d->d_un.d_val;
    if (d->d_tag == DT_PLTREL && d->d_un.d_val != DT_RELA) return;
  }
  auto const look = [&](ElfW(Addr) table, std::size_t bytes) {
    auto const* const all = reinterpret_cast<ElfW(Rela) const*>(table);
    for (std::size_t i = 0; i < bytes / sizeof *all; ++i)
      if (auto const number = ELF64_R_SYM(all[i].r_info); number != 0)
        see(all[i], static_cast<std::uint32_t>(number));
  };
  look(plain, plain_bytes);
  look(jumps, jumps_bytes);
}

// The symbols that another object defines come before the hashed ones. Where none is hashed, GNU
// ld says nothing of how many there are, and the relocations tell.
std::uint32_t count_of_imports(Tables const& t, ElfW(Addr) base) noexcept {
  for (auto const* d = t.dynamic; d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_HASH)
      return reinterpret_cast<std::uint32_t const*>(placed(base, d->d_un.d_ptr))[1];
  if (t.hashed != nullptr) {
    auto const* const buckets =
        t.hashed + 4 + t.hashed[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < t.hashed[0]; ++i)
      if (buckets[i] != 0) return t.hashed[1];
  }
  std::uint32_t count = 0;
  for_each_relocation(t, base, [&count](ElfW(Rela) const&, std::uint32_t number) {
    count = number < count ? count : number + 1;
  });
  return count;
}

// As the loader looks it up: buckets of symbols whose hash values follow each other, the last one's
// is odd.
bool may_have(Tables const& t, char const* name) noexcept {
  if (t.symbols == nullptr) return false;
  if (t.hashed == nullptr) return true;
  std::uint32_t hash = 5381;
  for (char const* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  auto const bucket_count = t.hashed[0], first = t.hashed[1], bloom_words = t.hashed[2];
  if (bucket_count == 0) return false;
  auto const* const buckets =
      t.hashed + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  auto const* const chain = buckets + bucket_count;
  auto i = buckets[hash % bucket_count];
  if (i < first) return false;
  for (;; ++i) {
    auto const value = chain[i - first];
    auto const& symbol = t.symbols[i];
    if ((value | 1U) == (hash | 1U) && symbol.st_shndx != SHN_UNDEF &&
        strcmp(t.names + symbol.st_name, name) == 0)
      return true;
    if ((value & 1U) != 0) return false;
  }
}

struct Definition {
  char const* name;
  std::uintptr_t after;  // 0: of all objects
  bool is_there;
};

int look_for_definition(dl_phdr_info* object, std::size_t, void* p) {
  auto& d = *static_cast<Definition*>(p);
  if (d.after != 0) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      auto const& part = object->dlpi_phdr[i];
      auto const begin = object->dlpi_addr + part.p_vaddr;
      if (part.p_type == PT_LOAD && d.after - begin < part.p_memsz) return d.after = 0, 0;
    }
    return 0;
  }
  d.is_there = may_have(tables_of(*object), d.name);
  return d.is_there ? 1 : 0;
}

int look_at(dl_phdr_info* object, std::size_t, void* p) {
  auto const& visit = *static_cast<Visit*>(p);
  Tables const t = tables_of(*object);
  if (t.symbols == nullptr) return 0;
  auto const count = count_of_imports(t, object->dlpi_addr);
  for (std::uint32_t i = 1; i < count; ++i)
    if (t.symbols[i].st_shndx == SHN_UNDEF)
      visit.see(t.names + t.symbols[i].st_name, visit.context);
  return 0;
}

int count_objects(dl_phdr_info* object, std::size_t bytes, void* result) {
  if (bytes >= offsetof(dl_phdr_info, dlpi_adds) + sizeof object->dlpi_adds)
    *static_cast<unsigned long long*>(result) = object->dlpi_adds;
  return 1;
}

int count_unloaded(dl_phdr_info* object, std::size_t bytes, void* result) noexcept {
  if (bytes >= offsetof(dl_phdr_info, dlpi_subs) + sizeof object->dlpi_subs)
    *static_cast<TimesUnloaded*>(result) = {true, object->dlpi_subs};
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

#if defined(__x86_64__)
constexpr std::uint32_t jump_slot = R_X86_64_JUMP_SLOT, global_data = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint32_t jump_slot = R_AARCH64_JUMP_SLOT, global_data = R_AARCH64_GLOB_DAT;
#else
constexpr std::uint32_t jump_slot = ~0U, global_data = ~0U;  // nothing is seen
#endif

struct BoundVisit {
  SeeBound see;
  void* context;
  LoadedObject of;
};

// A slot that the loader has yet to bind leads back into its own object.
int look_at_bound(dl_phdr_info* object, std::size_t, void* p) {
  auto const& visit = *static_cast<BoundVisit*>(p);
  if (object->dlpi_addr != visit.of.moved_by || object->dlpi_name != visit.of.file) return 0;
  Tables const t = tables_of(*object);
  if (t.symbols == nullptr) return 1;
  auto const base = object->dlpi_addr;
  for_each_relocation(t, base, [&](ElfW(Rela) const& relocation, std::uint32_t number) {
    auto const kind = ELF64_R_TYPE(relocation.r_info);
    auto const& symbol = t.symbols[number];
    if ((kind != jump_slot && kind != global_data) || symbol.st_shndx != SHN_UNDEF) return;
    auto const* const function = *reinterpret_cast<void* const*>(base + relocation.r_offset);
    if (function != nullptr && !visit.of.holds(function))
      visit.see(t.names + symbol.st_name, function, visit.context);
  });
  return 1;
}

struct VersionSearch {
  char const* name;
  LoadedObject of;
  char const* found;
};

// The number of a symbol's version, as the needed ones are numbered.
char const* version_of(Tables const& t, ElfW(Addr) base, ElfW(Half) number) noexcept {
  ElfW(Addr) needed = 0, count = 0;
  for (auto const* d = t.dynamic; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_VERNEED) needed = placed(base, d->d_un.d_ptr);
    if (d->d_tag == DT_VERNEEDNUM) count = d->d_un.d_val;
  }
  for (; needed != 0 && count > 0; --count) {
    auto const& file = *reinterpret_cast<ElfW(Verneed) const*>(needed);
    auto version = needed + file.vn_aux;
    for (auto left = file.vn_cnt; left > 0; --left) {
      auto const& one = *reinterpret_cast<ElfW(Vernaux) const*>(version);
      if (one.vna_other == number) return t.names + one.vna_name;
      version += one.vna_next;
    }
    if (file.vn_next == 0) break;
    needed += file.vn_next;
  }
  return nullptr;
}

int look_for_version(dl_phdr_info* object, std::size_t, void* p) {
  auto& search = *static_cast<VersionSearch*>(p);
  if (object->dlpi_addr != search.of.moved_by || object->dlpi_name != search.of.file) return 0;
  Tables const t = tables_of(*object);
  if (t.symbols == nullptr) return 1;
  auto const base = object->dlpi_addr;
  ElfW(Half) const* versions = nullptr;
  for (auto const* d = t.dynamic; d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_VERSYM)
      versions = reinterpret_cast<ElfW(Half) const*>(placed(base, d->d_un.d_ptr));
  if (versions == nullptr) return 1;
  constexpr ElfW(Half) hidden = 0x8000;
  auto const count = count_of_imports(t, base);
  for (std::uint32_t i = 1; i < count; ++i) {
    auto const& symbol = t.symbols[i];
    if (symbol.st_shndx != SHN_UNDEF || strcmp(t.names + symbol.st_name, search.name) != 0)
      continue;
    search.found = version_of(t, base, static_cast<ElfW(Half)>(versions[i] & ~hidden));
    break;
  }
  return 1;
}

}  // namespace

char const* version_asked_for(void const* code, char const* name) noexcept {
  VersionSearch search{name, find_object(code), nullptr};
  if (search.of.file != nullptr) dl_iterate_phdr(look_for_version, &search);
  return search.found;
}

void for_each_bound(void const* code, SeeBound see, void* context) noexcept {
  BoundVisit visit{see, context, find_object(code)};
  if (visit.of.file != nullptr) dl_iterate_phdr(look_at_bound, &visit);
}

LoadedObject find_object(void const* code) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(code), {}};
  dl_iterate_phdr(look_for, &search);
  return search.found;
}

bool may_define(char const* name, void const* after) noexcept {
  Definition d{name, reinterpret_cast<std::uintptr_t>(after), false};
  dl_iterate_phdr(look_for_definition, &d);
  return d.is_there;
}

unsigned long long times_loaded() noexcept {
  unsigned long long times = 0;
  dl_iterate_phdr(count_objects, &times);
  return times;
}

TimesUnloaded times_unloaded() noexcept {
  TimesUnloaded unloaded;
  dl_iterate_phdr(count_unloaded, &unloaded);
  return unloaded;
}

void for_each_import(SeeImport see, void* context) noexcept {
  Visit visit{see, context};
  dl_iterate_phdr(look_at, &visit);
}

}  // namespace nigh::platform
