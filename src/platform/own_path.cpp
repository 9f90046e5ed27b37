// SPDX-License-Identifier: Apache-2.0
#include "platform/own_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;

constexpr mode_t others_may_write = S_IWGRP | S_IWOTH;

error said(int why) { return error{why == ELOOP ? "it is a symbolic link" : std::strerror(why)}; }

// Empty: the directory is ours alone.
std::string why_not_ours(struct stat const& what) {
  if (!S_ISREG(what.st_mode)) return "it is no regular file";
  if (what.st_uid != ::geteuid())
    return "it belongs to another user, number " + std::to_string(what.st_uid);
  if (what.st_nlink > 1) return "it has another name, too";
  return {};
}

// Others could replace its contents.
bool is_open_to_others(struct stat const& directory) {
  bool const is_trusted = directory.st_uid == 0 || directory.st_uid == ::geteuid();
  bool const is_sticky = (directory.st_mode & S_ISVTX) != 0;
  return !is_trusted || ((directory.st_mode & others_may_write) != 0 && !is_sticky);
}

result<void> check_above(fs::path const& directory) {
  std::error_code failed;
  auto const real = fs::canonical(directory, failed);
  if (failed) return error{directory.string() + ": " + failed.message()};
  for (auto above = real;; above = above.parent_path()) {
    struct stat what{};
    if (::lstat(above.c_str(), &what) != 0)
      return error{above.string() + ": " + std::strerror(errno)};
    if (is_open_to_others(what))
      return error{above.string() + " lets other users replace " + directory.string()};
    if (above == above.root_path()) return {};
  }
}

}  // namespace

result<int> open_own_file(fs::path const& file) {
  // Not blocking: a pipe that nobody reads is refused below, not waited for.
  int const descriptor =
      ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
  if (descriptor < 0) return said(errno);
  struct stat what{};
  std::string why = ::fstat(descriptor, &what) != 0 ? std::strerror(errno) : why_not_ours(what);
  // Earlier versions let others read the file, and hold its lock.
  if (why.empty() && (what.st_mode & 077) != 0 && ::fchmod(descriptor, 0600) != 0)
    why = std::strerror(errno);
  if (why.empty()) return descriptor;
  ::close(descriptor);
  return error{why};
}

result<File> make_new_file(fs::path const& file, unsigned mode) {
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) return said(errno);
  int const descriptor =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (descriptor < 0) return said(errno);
  if (File opened(::fdopen(descriptor, "w")); opened) return opened;
  auto const why = said(errno);
  ::close(descriptor);
  return why;
}

result<fs::path> make_temporary_file(fs::path const& directory, std::string const& name_begins) {
  auto name = (directory / (name_begins + "XXXXXX")).string();
  int const descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return said(errno);
  ::close(descriptor);
  return fs::path(name);
}

bool is_closed_well(File file) noexcept {
  bool const has_failed = std::ferror(file.get()) != 0;
  return std::fclose(file.release()) == 0 && !has_failed;
}

result<void> make_new_directory(fs::path const& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0) return said(errno);
  return {};
}

bool is_root_in_home_of_another(fs::path const& home) noexcept {
  struct stat what{};
  return ::geteuid() == 0 && ::stat(home.c_str(), &what) == 0 && what.st_uid != 0;
}

result<void> make_private_directory(fs::path const& directory) {
  auto const complain = [&](std::string const& why) { return error{directory.string() + why}; };
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return complain(": cannot be made: " + std::string(std::strerror(errno)));
  struct stat what{};
  if (::lstat(directory.c_str(), &what) != 0)
    return complain(": " + std::string(std::strerror(errno)));
  if (!S_ISDIR(what.st_mode)) return complain(" is no directory");
  if (what.st_uid != ::geteuid()) return complain(" belongs to another user");
  if ((what.st_mode & others_may_write) != 0) return complain(" may be written to by others");
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return complain(" may not be written to");
  return check_above(directory);
}

}  // namespace nigh::platform
