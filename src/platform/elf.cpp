// SPDX-License-Identifier: Apache-2.0
#include "platform/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace nigh::platform {
namespace {

using Header = std::conditional_t<sizeof(void*) == 8, Elf64_Ehdr, Elf32_Ehdr>;
constexpr unsigned char our_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

// A file that is not regular has no bytes. It is not mapped: others may cut it meanwhile.
class Opened {
 public:
  explicit Opened(char const* path)
      : descriptor_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    struct stat what{};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &what) == 0 && S_ISREG(what.st_mode))
      size_ = static_cast<std::uint64_t>(what.st_size);
  }
  ~Opened() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Opened(Opened&&) = delete;

  int descriptor() const { return descriptor_; }
  std::uint64_t size() const { return size_; }
  std::optional<Header> header() const {
    Header header{};
    bool const is_elf = size_ >= sizeof header &&
                        ::pread(descriptor_, &header, sizeof header, 0) == sizeof header &&
                        std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    return is_elf ? std::optional(header) : std::nullopt;
  }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

struct End {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};

class Reader {
 public:
  explicit Reader(Opened const& file) : size_(file.size()), names_left_(file.size()) {
    static bool const is_known = ::elf_version(EV_CURRENT) != EV_NONE;
    if (is_known) elf_.reset(::elf_begin(file.descriptor(), ELF_C_READ, nullptr));
  }

  void read(ElfFacts& facts) {
    std::size_t segments = 0;
    if (!elf_ || ::elf_getphdrnum(elf_.get(), &segments) != 0) return;
    std::optional<GElf_Phdr> dynamic;
    for (std::size_t i = 0; i < segments; ++i) {
      GElf_Phdr segment{};
      if (::gelf_getphdr(elf_.get(), static_cast<int>(i), &segment) == nullptr) return;
      if (segment.p_type == PT_INTERP) {
        facts.is_dynamic = true;
        facts.loader =
            name_at(part(segment.p_offset, segment.p_filesz, longest_name, ELF_T_BYTE), 0);
      }
      if (segment.p_type == PT_LOAD) loaded_.push_back(segment);
      if (segment.p_type == PT_DYNAMIC && !dynamic) dynamic = segment;
    }
    if (dynamic) read_names(*dynamic, facts);
    read_imports(facts.imports);
  }

 private:
  static constexpr std::uint64_t most_entries = 1 << 20;  // bytes of them
  static constexpr std::uint64_t most_strings = 1 << 26;
  static constexpr std::size_t longest_name = 4096;

  // A part of the file, of which there are `most` bytes at most; the parts live as long as this.
  Elf_Data* part(std::uint64_t offset, std::uint64_t size, std::uint64_t most, Elf_Type type) {
    if (offset >= size_) return nullptr;
    auto const bytes = std::min({size, most, size_ - offset});
    return ::elf_getdata_rawchunk(elf_.get(), static_cast<std::int64_t>(offset), bytes, type);
  }

  // All names together are no longer than the file; beyond that, names come back empty.
  std::string name_at(Elf_Data const* strings, std::uint64_t offset) {
    if (strings == nullptr || offset >= strings->d_size) return {};
    auto const most = std::min<std::uint64_t>(
        {longest_name, names_left_, std::uint64_t{strings->d_size} - offset});
    auto const* const at = static_cast<char const*>(strings->d_buf) + offset;
    std::string name(at, ::strnlen(at, most));
    names_left_ -= name.size();
    return name;
  }

  // The place in the file that a virtual address is loaded from.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (auto const& s : loaded_)
      if (address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
        return s.p_offset + (address - s.p_vaddr);
    return {};
  }

  // From the segment, which a program has even without section headers.
  void read_names(GElf_Phdr const& dynamic, ElfFacts& facts) {
    auto* const entries = part(dynamic.p_offset, dynamic.p_filesz, most_entries, ELF_T_DYN);
    if (entries == nullptr) return;
    std::vector<std::uint64_t> needed;
    std::optional<std::uint64_t> own, address;
    std::uint64_t bytes = most_strings;
    GElf_Dyn entry{};
    for (int i = 0; ::gelf_getdyn(entries, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
      if (entry.d_tag == DT_NEEDED) needed.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_SONAME) own = entry.d_un.d_val;
      if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) bytes = entry.d_un.d_val;
    }
    auto const offset = address ? offset_of(*address) : std::nullopt;
    auto* const strings = offset ? part(*offset, bytes, most_strings, ELF_T_BYTE) : nullptr;
    if (strings == nullptr) return;
    for (auto const name : needed) facts.needed.push_back(name_at(strings, name));
    if (own) facts.library_name = name_at(strings, *own);
  }

  // From the section headers, which even stripped programs keep; none where they are gone. One
  // table is enough: a file that a linker made has no other.
  void read_imports(std::vector<std::string>& imports) {
    GElf_Shdr section{}, names{};
    Elf_Scn* at = nullptr;
    do {
      at = ::elf_nextscn(elf_.get(), at);
      if (at == nullptr || ::gelf_getshdr(at, &section) == nullptr) return;
    } while (section.sh_type != SHT_DYNSYM);
    auto* const of_names = ::elf_getscn(elf_.get(), section.sh_link);
    if (of_names == nullptr || ::gelf_getshdr(of_names, &names) == nullptr) return;
    auto* const symbols = part(section.sh_offset, section.sh_size, most_entries, ELF_T_SYM);
    auto* const strings = part(names.sh_offset, names.sh_size, most_strings, ELF_T_BYTE);
    if (symbols == nullptr) return;
    GElf_Sym symbol{};
    for (int i = 0; ::gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
      if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0) continue;
      if (auto name = name_at(strings, symbol.st_name); !name.empty())
        imports.push_back(std::move(name));
    }
  }

  std::uint64_t size_;
  std::uint64_t names_left_;
  std::unique_ptr<Elf, End> elf_;
  std::vector<GElf_Phdr> loaded_;
};

unsigned our_machine() {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#else
  auto const header = Opened("/proc/self/exe").header();
  return header ? header->e_machine : unsigned{EM_NONE};
#endif
}

}  // namespace

std::optional<ElfFacts> read_elf(std::filesystem::path const& path) {
  Opened const file(path.c_str());
  auto const header = file.header();
  if (!header) return {};
  ElfFacts facts;
  facts.is_ours = header->e_ident[EI_CLASS] == our_class && header->e_machine == our_machine();
  // libelf takes 200 bytes for each section, of which a header that names none may mean billions.
  bool const has_few_sections = header->e_shnum > 0 || header->e_shoff == 0;
  if (facts.is_ours && has_few_sections) Reader(file).read(facts);
  return facts;
}

}  // namespace nigh::platform
