// SPDX-License-Identifier: Apache-2.0
#include "platform/elf_functions.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace nigh::platform {
namespace {

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);

class Mapped {
 public:
  explicit Mapped(char const* file) noexcept {
    int const descriptor = ::open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return;
    struct stat what{};
    if (::fstat(descriptor, &what) == 0 && S_ISREG(what.st_mode) && what.st_size > 0) {
      size_ = static_cast<std::size_t>(what.st_size);
      void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (at == MAP_FAILED)
        size_ = 0;
      else
        bytes_ = static_cast<char const*>(at);
    }
    ::close(descriptor);
  }
  ~Mapped() {
    if (size_ > 0) ::munmap(const_cast<char*>(bytes_), size_);
  }
  Mapped(Mapped&&) = delete;

  template <class T>
  bool read(std::uint64_t offset, T& into) const noexcept {
    if (offset > size_ || size_ - offset < sizeof into) return false;
    std::memcpy(&into, bytes_ + offset, sizeof into);
    return true;
  }
  bool has_at(std::uint64_t offset, char const* text) const noexcept {
    auto const length = std::strlen(text) + 1;
    return offset <= size_ && size_ - offset >= length &&
           std::memcmp(bytes_ + offset, text, length) == 0;
  }

  std::string_view bytes() const noexcept { return {bytes_, size_}; }

 private:
  char const* bytes_ = nullptr;
  std::size_t size_ = 0;
};

bool is_one_of(Mapped const& file, std::uint64_t name,
               std::span<char const* const> functions) noexcept {
  for (char const* const function : functions)
    if (file.has_at(name, function)) return true;
  return false;
}

// `left`: symbols that may still be looked at. Overlapping tables make more of them than the file
// has room for.
bool has_one_of(Mapped const& file, Section const& symbols, Section const& strings,
                std::span<char const* const> functions, std::size_t& left) noexcept {
  for (std::uint64_t at = 0; left > 0 && at + sizeof(Symbol) <= symbols.sh_size;
       at += sizeof(Symbol), --left) {
    Symbol symbol;
    if (!file.read(symbols.sh_offset + at, symbol)) return false;
    bool const is_own = symbol.st_shndx != SHN_UNDEF && (symbol.st_info & 0xf) == STT_FUNC;
    if (is_own && is_one_of(file, strings.sh_offset + symbol.st_name, functions)) return true;
  }
  return false;
}

}  // namespace

Defined defines_any(char const* path, std::span<char const* const> functions) noexcept {
  Mapped const file(path);
  Header header;
  if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_shentsize != sizeof(Section))
    return Defined::unknown;
  bool are_stripped = true;
  auto left = file.bytes().size() / sizeof(Symbol);
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Section symbols, strings;
    if (!file.read(header.e_shoff + i * sizeof(Section), symbols)) return Defined::unknown;
    // The linker never strips the symbols for the dynamic linker, but those are only the exported
    // ones.
    if (symbols.sh_type != SHT_SYMTAB && symbols.sh_type != SHT_DYNSYM) continue;
    if (!file.read(header.e_shoff + symbols.sh_link * sizeof(Section), strings))
      return Defined::unknown;
    if (has_one_of(file, symbols, strings, functions, left)) return Defined::yes;
    if (symbols.sh_type == SHT_SYMTAB) are_stripped = false;
  }
  return are_stripped ? Defined::unknown : Defined::no;
}

bool is_true_of_file(char const* file, bool (*question)(std::string_view bytes) noexcept) noexcept {
  Mapped const mapped(file);
  return !mapped.bytes().empty() && question(mapped.bytes());
}

}  // namespace nigh::platform
