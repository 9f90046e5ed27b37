// SPDX-License-Identifier: Apache-2.0
#include "platform/owned_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace nigh::platform {
namespace {

error said_no() { return error{std::strerror(errno)}; }

}  // namespace

// A lock, not the file's existence, tells who owns it: a file left by a process that is gone may be
// written again.
result<std::optional<OwnedFile>> OwnedFile::open(std::filesystem::path const& file) {
  // Not blocking, for a pipe that nobody reads is refused below, not waited for.
  int const descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0) return said_no();
  OwnedFile opened(descriptor);
  struct stat what{};
  if (::fstat(descriptor, &what) != 0) return said_no();
  if (!S_ISREG(what.st_mode)) return error{"it is no regular file"};
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<OwnedFile>();
    return said_no();
  }
  if (::ftruncate(descriptor, 0) != 0) return said_no();
  return std::optional<OwnedFile>(std::move(opened));
}

OwnedFile::OwnedFile(OwnedFile&& from) noexcept
    : descriptor_(std::exchange(from.descriptor_, -1)) {}

OwnedFile::~OwnedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

result<void> OwnedFile::write_end(std::uint64_t offset, std::string_view text) const {
  while (!text.empty()) {
    auto const written =
        ::pwrite(descriptor_, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return said_no();
    offset += static_cast<std::uint64_t>(written);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(offset)) != 0) return said_no();
  return {};
}

}  // namespace nigh::platform
