// SPDX-License-Identifier: Apache-2.0
#include "platform/binary_identity.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "platform/identity_hash.hpp"

namespace nigh::platform {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Note = ElfW(Nhdr);

using Hash = IdentityHash;

bool read_at(int file, std::uint64_t offset, void* into, std::size_t size) noexcept {
  return ::pread(file, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

// Notes are small. A file with more in front of the build id counts as one without a build id.
bool add_build_id(int file, Segment const& notes, Hash& hash) noexcept {
  std::array<unsigned char, 1024> bytes{};
  auto const size = notes.p_filesz < bytes.size() ? notes.p_filesz : bytes.size();
  if (!read_at(file, notes.p_offset, bytes.data(), size)) return false;
  auto const align = notes.p_align == 8 ? std::size_t{8} : std::size_t{4};
  auto const aligned = [align](std::size_t n) { return (n + align - 1) / align * align; };
  for (std::size_t at = 0; at + sizeof(Note) <= size;) {
    Note note;
    std::memcpy(&note, &bytes[at], sizeof note);
    auto const name = at + sizeof note;
    auto const content = name + aligned(note.n_namesz);
    if (note.n_namesz > size || note.n_descsz > size || content + note.n_descsz > size)
      return false;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz > 0 &&
        std::memcmp(&bytes[name], "GNU", 4) == 0) {
      hash.add(&bytes[content], note.n_descsz);
      return true;
    }
    at = content + aligned(note.n_descsz);
  }
  return false;
}

bool add_place(int file, Hash& hash) noexcept {
  std::array<char, 64> link{};
  std::array<char, 4096> path{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
  auto const length = ::readlink(link.data(), path.data(), path.size());
  struct stat what{};
  if (length <= 0 || ::fstat(file, &what) != 0) return false;
  hash.add(path.data(), static_cast<std::size_t>(length));
  hash.add(&what.st_size, sizeof what.st_size);
  hash.add(&what.st_mtim, sizeof what.st_mtim);
  return true;
}

std::uint64_t identity_of(int file, bool is_library) noexcept {
  Header header;
  if (!read_at(file, 0, &header, sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Segment))
    return 0;
  Hash hash;
  bool has_linker = false, has_id = false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Segment segment;
    if (!read_at(file, header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return 0;
    has_linker |= segment.p_type == PT_INTERP;
    if (segment.p_type == PT_NOTE && !has_id) has_id = add_build_id(file, segment, hash);
  }
  if ((!has_linker && !is_library) || (!has_id && !add_place(file, hash))) return 0;
  return hash.value();
}

std::uint64_t identity_of(char const* file, bool is_library) noexcept {
  int const descriptor = ::open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return 0;
  auto const identity = identity_of(descriptor, is_library);
  ::close(descriptor);
  return identity;
}

}  // namespace

std::uint64_t binary_identity(char const* file) noexcept { return identity_of(file, false); }

std::uint64_t library_identity(char const* file) noexcept { return identity_of(file, true); }

std::uint64_t own_identity() noexcept { return binary_identity("/proc/self/exe"); }

}  // namespace nigh::platform
