// SPDX-License-Identifier: Apache-2.0
#include "platform/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>
#include <utility>

#include "platform/program.hpp"

namespace nigh::platform {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Entry = ElfW(Dyn);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);
constexpr unsigned char our_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

// A regular file. Others may change it meanwhile, cut it or have it say anything. So it is not
// mapped, and its size bounds what is kept of it.
class File {
 public:
  explicit File(char const* path)
      : descriptor_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    struct stat what{};
    if (descriptor_ < 0 || ::fstat(descriptor_, &what) != 0 || !S_ISREG(what.st_mode)) return;
    size_ = static_cast<std::uint64_t>(what.st_size);
    names_left_ = size_;
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(File&&) = delete;

  std::uint64_t size() const { return size_; }

  // Returns how many bytes there were.
  std::size_t read(std::uint64_t offset, void* into, std::size_t bytes) const {
    if (offset >= size_) return 0;
    auto const got = ::pread(descriptor_, into, bytes, static_cast<off_t>(offset));
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }

  // All names together are no longer than the file; beyond that, names come back empty.
  std::string name_at(std::uint64_t offset) {
    std::array<char, 4096> bytes{};  // the longest
    auto const most = std::min<std::uint64_t>(bytes.size(), names_left_);
    std::string name(bytes.data(), ::strnlen(bytes.data(), read(offset, bytes.data(), most)));
    names_left_ -= name.size();
    return name;
  }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
  std::uint64_t names_left_ = 0;
};

template <class T>
bool read_at(File& in, std::uint64_t offset, T& into) {
  return in.read(offset, &into, sizeof into) == sizeof into;
}

bool read_header(File& in, Header& header) {
  return read_at(in, 0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
}

// The place in the file that a virtual address is loaded from.
std::optional<std::uint64_t> offset_of(std::vector<Segment> const& segments,
                                       std::uint64_t address) {
  for (auto const& s : segments)
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
      return s.p_offset + (address - s.p_vaddr);
  return {};
}

void read_names(File& in, std::vector<Segment> const& segments, Segment const& dynamic,
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
  for (auto const name : needed) facts.needed.push_back(in.name_at(*strings + name));
  if (own) facts.library_name = in.name_at(*strings + *own);
}

// From the section headers, which even stripped programs keep; none where they are gone. One table
// is enough: a file that a linker made has no other.
std::vector<std::string> imports_of(File& in, Header const& header) {
  constexpr std::uint64_t most = 1 << 20;
  std::vector<std::string> imports;
  if (header.e_shentsize != sizeof(Section)) return imports;
  auto const section = [&](std::uint64_t i, Section& into) {
    return i < header.e_shnum && read_at(in, header.e_shoff + i * sizeof(Section), into);
  };
  Section symbols{}, strings{};
  std::uint64_t i = 0;
  while (i < header.e_shnum && section(i, symbols) && symbols.sh_type != SHT_DYNSYM) ++i;
  if (symbols.sh_type != SHT_DYNSYM || !section(symbols.sh_link, strings)) return imports;
  for (std::uint64_t at = 0; at + sizeof(Symbol) <= std::min(symbols.sh_size, most);
       at += sizeof(Symbol)) {
    Symbol symbol{};
    if (!read_at(in, symbols.sh_offset + at, symbol)) break;
    if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0 || symbol.st_name >= strings.sh_size)
      continue;
    if (auto name = in.name_at(strings.sh_offset + symbol.st_name); !name.empty())
      imports.push_back(std::move(name));
  }
  return imports;
}

unsigned our_machine() {
  File in("/proc/self/exe");
  Header header{};
  return read_header(in, header) ? header.e_machine : unsigned{EM_NONE};
}

}  // namespace

std::optional<ElfFacts> read_elf(std::filesystem::path const& file) {
  File in(file.c_str());
  Header header{};
  if (!read_header(in, header)) return {};
  ElfFacts facts;
  facts.is_ours = header.e_ident[EI_CLASS] == our_class && header.e_machine == our_machine();
  if (!facts.is_ours || header.e_phentsize != sizeof(Segment)) return facts;
  std::vector<Segment> segments(header.e_phnum);
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (!read_at(in, header.e_phoff + i * sizeof(Segment), segments[i])) return facts;
  for (auto const& s : segments)
    if (s.p_type == PT_INTERP) facts.is_dynamic = true;
  auto const dynamic = std::find_if(segments.begin(), segments.end(),
                                    [](Segment const& s) { return s.p_type == PT_DYNAMIC; });
  if (dynamic != segments.end()) read_names(in, segments, *dynamic, facts);
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
