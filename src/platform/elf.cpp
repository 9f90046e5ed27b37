// SPDX-License-Identifier: Apache-2.0
#include "platform/elf.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "platform/program.hpp"

namespace nigh::platform {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Entry = ElfW(Dyn);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);
constexpr unsigned char our_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

template <class T>
bool read_at(std::ifstream& in, std::uint64_t offset, T& into) {
  in.clear();
  in.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(in.read(reinterpret_cast<char*>(&into), sizeof into));
}

bool read_header(std::ifstream& in, Header& header) {
  return read_at(in, 0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
}

std::string name_at(std::ifstream& in, std::uint64_t offset) {
  in.clear();
  in.seekg(static_cast<std::streamoff>(offset));
  std::string name;
  constexpr std::size_t longest = 4096;
  for (char c = 0; in.get(c) && c != '\0' && name.size() < longest;) name += c;
  return name;
}

// Where in the file a virtual address is loaded from.
std::optional<std::uint64_t> offset_of(std::vector<Segment> const& segments,
                                       std::uint64_t address) {
  for (auto const& s : segments)
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
      return s.p_offset + (address - s.p_vaddr);
  return {};
}

void read_names(std::ifstream& in, std::vector<Segment> const& segments, Segment const& dynamic,
                ElfFacts& facts) {
  std::vector<std::uint64_t> needed;
  std::optional<std::uint64_t> own;
  std::optional<std::uint64_t> strings;
  constexpr std::uint64_t most = 1 << 16;
  for (std::uint64_t at = 0; at + sizeof(Entry) <= dynamic.p_filesz && needed.size() < most;
       at += sizeof(Entry)) {
    Entry entry{};
    if (!read_at(in, dynamic.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) needed.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_SONAME) own = entry.d_un.d_val;
    if (entry.d_tag == DT_STRTAB) strings = offset_of(segments, entry.d_un.d_ptr);
  }
  if (!strings) return;
  for (auto const name : needed) facts.needed.push_back(name_at(in, *strings + name));
  if (own) facts.library_name = name_at(in, *strings + *own);
}

// From the section headers, which even stripped programs keep; none where they are gone.
std::vector<std::string> imports_of(std::ifstream& in, Header const& header) {
  constexpr std::uint64_t most = 1 << 20;
  std::vector<std::string> imports;
  if (header.e_shentsize != sizeof(Section)) return imports;
  auto const section = [&](std::uint64_t i, Section& into) {
    return i < header.e_shnum && read_at(in, header.e_shoff + i * sizeof(Section), into);
  };
  Section symbols{}, strings{};
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    if (!section(i, symbols) || symbols.sh_type != SHT_DYNSYM) continue;
    if (!section(symbols.sh_link, strings)) return imports;
    for (std::uint64_t at = 0; at + sizeof(Symbol) <= std::min(symbols.sh_size, most);
         at += sizeof(Symbol)) {
      Symbol symbol{};
      if (!read_at(in, symbols.sh_offset + at, symbol)) break;
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0 && symbol.st_name < strings.sh_size)
        imports.push_back(name_at(in, strings.sh_offset + symbol.st_name));
    }
  }
  return imports;
}

unsigned our_machine() {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  Header header{};
  return read_header(in, header) ? header.e_machine : unsigned{EM_NONE};
}

}  // namespace

std::optional<ElfFacts> read_elf(std::filesystem::path const& file) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) return {};
  std::ifstream in(file, std::ios::binary);
  Header header{};
  if (!read_header(in, header)) return {};
  ElfFacts facts;
  facts.is_ours = header.e_ident[EI_CLASS] == our_class && header.e_machine == our_machine();
  if (!facts.is_ours || header.e_phentsize != sizeof(Segment)) return facts;
  std::vector<Segment> segments(header.e_phnum);
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (!read_at(in, header.e_phoff + i * sizeof(Segment), segments[i])) return facts;
  for (auto const& s : segments) {
    if (s.p_type == PT_INTERP) facts.is_dynamic = true;
    if (s.p_type == PT_DYNAMIC) read_names(in, segments, s, facts);
  }
  facts.imports = imports_of(in, header);
  return facts;
}

std::filesystem::path find_program(std::string const& word) {
  if (word.find('/') != word.npos) return word;
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    auto const file = std::filesystem::path(folder.empty() ? "." : folder) / word;
    if (is_runnable(file)) return file;
  }
  return {};
}

}  // namespace nigh::platform
