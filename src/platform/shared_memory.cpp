// SPDX-License-Identifier: Apache-2.0
#include "platform/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace nigh::platform {

int make_shared_memory(std::size_t bytes) noexcept {
  int const descriptor = ::memfd_create("nigh", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -errno;
  if (::ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 &&
      ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    return descriptor;
  int const failed = errno;
  ::close(descriptor);
  return -failed;
}

void* map_shared(int descriptor, std::size_t bytes, void* at) noexcept {
  struct stat what{};
  if (::fstat(descriptor, &what) != 0 || what.st_size < static_cast<off_t>(bytes)) return nullptr;
  int const seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return nullptr;
  void* const mapped = ::mmap(at, bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | (at != nullptr ? MAP_FIXED : 0), descriptor, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

void unshare(void* at, std::size_t bytes) noexcept {
  ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void unmap_shared(void* at, std::size_t bytes) noexcept {
  if (at != nullptr) ::munmap(at, bytes);
}

}  // namespace nigh::platform
