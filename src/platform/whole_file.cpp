// SPDX-License-Identifier: Apache-2.0
#include "platform/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "platform/size_signal.hpp"

namespace nigh::platform {
namespace {

constexpr mode_t usual_mode = 0666;

bool write_all(int file, std::string_view text) {
  NoSizeSignal const here;
  while (!text.empty()) {
    auto const n = write(file, text.data(), text.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

bool read_whole_file(char const* name, std::string& text, std::size_t most) {
  if (!read_beginning(name, text, most + (most < std::string::npos ? 1 : 0))) return false;
  if (text.size() <= most) return true;
  errno = EFBIG;
  return false;
}

// Not a pipe's, which may have nobody who writes.
static int open_to_read(char const* name) {
  int const file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct statx what{};  // glibc's stat() is newer than old systems
  if (file < 0 || statx(file, "", AT_EMPTY_PATH, STATX_TYPE, &what) != 0 ||
      !S_ISFIFO(what.stx_mode))
    return file;
  close(file);
  errno = EINVAL;
  return -1;
}

bool read_beginning(char const* name, std::string& text, std::size_t most) {
  int const file = open_to_read(name);
  if (file < 0) return false;
  text.clear();
  std::array<char, 4096> part;
  ssize_t n = 0;
  do {
    n = read(file, part.data(), std::min(part.size(), most - text.size()));
    if (n > 0) text.append(part.data(), static_cast<std::size_t>(n));
  } while (n > 0 || (n < 0 && errno == EINTR));
  int const why = errno;
  close(file);
  errno = why;
  return n == 0;
}

std::uint64_t bytes_on_disk(std::string const& file) noexcept {
  struct statx what{};
  if (statx(AT_FDCWD, file.c_str(), 0, STATX_SIZE | STATX_BLOCKS, &what) != 0) return 0;
  constexpr std::uint64_t block = 512;  // as POSIX counts, whatever the file system has
  return std::min<std::uint64_t>(what.stx_size, what.stx_blocks * block);
}

std::string text_of(std::string const& file) {
  std::string text;
  if (!read_whole_file(file.c_str(), text)) text.clear();
  return text;
}

bool replace_file(char const* name, std::string_view text) {
  struct statx there{};
  if (statx(AT_FDCWD, name, 0, STATX_TYPE, &there) == 0 && !S_ISREG(there.stx_mode)) {
    errno = EINVAL;
    return false;
  }
  std::string const beside = std::string(name) + '.' + std::to_string(getpid());
  int const file = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, usual_mode);
  if (file < 0) return false;
  bool done = write_all(file, text);
  done = close(file) == 0 && done;
  done = done && std::rename(beside.c_str(), name) == 0;
  int const why = errno;
  if (!done) unlink(beside.c_str());
  errno = why;
  return done;
}

}  // namespace nigh::platform
