// SPDX-License-Identifier: Apache-2.0
#include "platform/replaced_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <system_error>
#include <utility>

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;

bool is_written(int descriptor) {
  int const flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

// The descriptor in /proc that the path leads to, as /proc/7/fd/1; otherwise empty.
fs::path descriptor_entry(fs::path path) {
  constexpr int most_links = 40;  // as the kernel has it
  std::error_code failed;
  for (int i = 0; i < most_links; ++i) {
    auto const folder = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", failed);
    if (failed) return {};
    auto const& name = folder.native();
    if (name.starts_with("/proc/") && name.ends_with("/fd")) return folder / path.filename();
    auto const next = fs::read_symlink(path, failed);
    if (failed) return {};
    path = folder / next;
  }
  return {};
}

// Of this process, open for writing; -1: none.
int own_descriptor(fs::path const& file, fs::path const& entry) {
  if (entry.parent_path() == "/proc/" + std::to_string(::getpid()) + "/fd") {
    int const said = std::atoi(entry.filename().c_str());
    return is_written(said) ? said : -1;
  }
  struct stat what{};
  if (::stat(file.c_str(), &what) != 0) return -1;
  for (int const stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open{};
    if (::fstat(stream, &open) == 0 && open.st_dev == what.st_dev && open.st_ino == what.st_ino &&
        is_written(stream))
      return stream;
  }
  return -1;
}

}  // namespace

File open_stream(fs::path const& file) {
  auto const entry = descriptor_entry(file);
  int const own = own_descriptor(file, entry);
  if (own < 0 && entry.empty()) return {};
  // A copy of ours has the same place in the file: what we write later comes behind.
  int const descriptor = own >= 0
                             ? ::fcntl(own, F_DUPFD_CLOEXEC, 0)
                             : ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return {};
  File opened(::fdopen(descriptor, "a"));
  if (!opened) ::close(descriptor);
  return opened;
}

result<Replacement> Replacement::beside(fs::path const& target) {
  auto part = target;
  part += "." + std::to_string(std::random_device{}()) + ".part";
  std::error_code failed;
  auto made = make_new_file(part, fs::exists(target, failed) ? 0600 : 0666);
  if (!made) return made.to_error();
  return Replacement(target, std::move(part), std::move(made).value());
}

Replacement::Replacement(fs::path target, fs::path part, File file)
    : target_(std::move(target)), part_(std::move(part)), file_(std::move(file)) {}

Replacement::Replacement(Replacement&& from) noexcept
    : target_(std::move(from.target_)),
      part_(std::exchange(from.part_, {})),
      file_(std::move(from.file_)) {}

Replacement::~Replacement() {
  std::error_code failed;
  if (!part_.empty()) fs::remove(part_, failed);
}

result<void> Replacement::put_in_place() {
  int const write_failed = std::ferror(file_.get()) != 0 ? errno : 0;
  struct stat before{};
  if (::stat(target_.c_str(), &before) == 0)
    static_cast<void>(::fchmod(::fileno(file_.get()), before.st_mode & 07777));
  errno = 0;
  if (!is_closed_well(std::move(file_)))
    return error{std::strerror(write_failed != 0 ? write_failed : errno)};
  std::error_code failed;
  fs::rename(part_, target_, failed);
  if (failed) return error{failed.message()};
  part_.clear();
  return {};
}

}  // namespace nigh::platform
