// SPDX-License-Identifier: Apache-2.0
#include "platform/owned_file.hpp"

#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/own_path.hpp"
#include "platform/size_signal.hpp"

namespace nigh::platform {
namespace fs = std::filesystem;
namespace {

error said_no() { return error{std::strerror(errno)}; }

// The offset at which it ends.
result<std::uint64_t> write_at(int descriptor, std::uint64_t offset, std::string_view text) {
  NoSizeSignal const here;
  while (!text.empty()) {
    auto const written = ::pwrite(descriptor, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return said_no();
    offset += static_cast<std::uint64_t>(written);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return offset;
}

// Whether one of the process's descriptors means this file; false where we may not look.
bool has_open(int process, struct stat const& file) {
  std::error_code failed;
  auto const descriptors = "/proc/" + std::to_string(process) + "/fd";
  for (auto it = fs::directory_iterator(descriptors, failed);
       !failed && it != fs::directory_iterator(); it.increment(failed)) {
    struct stat what{};
    if (::stat(it->path().c_str(), &what) == 0 && what.st_dev == file.st_dev &&
        what.st_ino == file.st_ino)
      return true;
  }
  return false;
}

std::string user_name(uid_t user) {
  passwd const* const entry = ::getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

// From lines as "1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF", the one with the file's inode.
std::vector<int> locking_processes(struct stat const& file) {
  std::vector<int> processes;
  std::ifstream in("/proc/locks");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string number, kind, how, what, place;
    int process = 0;
    words >> number >> kind >> how >> what >> process >> place;
    if (words && kind == "FLOCK" && place.ends_with(":" + std::to_string(file.st_ino)))
      processes.push_back(process);
  }
  return processes;
}

}  // namespace

std::optional<FileHolder> OwnedFile::holder_of(fs::path const& file) {
  struct stat what{};
  if (::lstat(file.c_str(), &what) != 0 || !S_ISREG(what.st_mode)) return {};
  auto candidates = locking_processes(what);
  if (int noted = 0; std::ifstream(file) >> noted && noted > 0)
    candidates.insert(candidates.begin(), noted);
  // The kernel lists the process that took the lock; its children may hold it now.
  std::error_code failed;
  for (auto it = fs::directory_iterator("/proc", failed); !failed && it != fs::directory_iterator();
       it.increment(failed))
    if (auto const name = it->path().filename().string();
        name.find_first_not_of("0123456789") == name.npos)
      candidates.push_back(std::atoi(name.c_str()));
  for (int const process : candidates) {
    struct stat folder{};
    if (process == ::getpid() || !has_open(process, what) ||
        ::stat(("/proc/" + std::to_string(process)).c_str(), &folder) != 0)
      continue;
    return FileHolder{process, user_name(folder.st_uid)};
  }
  return {};
}

// The lock, not the file's existence, tells who owns it: a file whose process is gone may be
// written again.
result<std::optional<OwnedFile>> OwnedFile::open(std::filesystem::path const& file) {
  auto const descriptor = open_own_file(file);
  if (!descriptor) return descriptor.to_error();
  OwnedFile opened(*descriptor);
  if (::flock(*descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<OwnedFile>();
    return said_no();
  }
  if (::ftruncate(*descriptor, 0) != 0) return said_no();
  return std::optional<OwnedFile>(std::move(opened));
}

OwnedFile::OwnedFile(OwnedFile&& from) noexcept
    : descriptor_(std::exchange(from.descriptor_, -1)) {}

OwnedFile::~OwnedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

result<void> OwnedFile::write_end(std::uint64_t offset, std::string_view text) const {
  auto const end = write_at(descriptor_, offset, text);
  if (!end) return end.to_error();
  if (::ftruncate(descriptor_, static_cast<off_t>(*end)) != 0) return said_no();
  return {};
}

result<AppendedFile> AppendedFile::open(fs::path const& file) {
  auto const descriptor = open_own_file(file);
  if (!descriptor) return descriptor.to_error();
  AppendedFile opened(*descriptor, 0);
  struct stat what{};
  if (::fstat(*descriptor, &what) != 0) return said_no();
  opened.size_ = static_cast<std::uint64_t>(what.st_size);
  return opened;
}

AppendedFile::AppendedFile(AppendedFile&& from) noexcept
    : descriptor_(std::exchange(from.descriptor_, -1)), size_(from.size_) {}

AppendedFile::~AppendedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

result<void> AppendedFile::add(std::string_view text) {
  auto const end = write_at(descriptor_, size_, text);
  if (!end) return end.to_error();
  size_ = *end;
  return {};
}

}  // namespace nigh::platform
