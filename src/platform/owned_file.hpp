// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file that one process at a time writes, in pieces, for as long as it lives.

#include <cstdint>
#include <filesystem>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace nigh::platform {

// A process that has a file open: its number and its user, by name where there is one.
struct FileHolder {
  int process = 0;
  std::string user = {};
};

class OwnedFile {
 public:
  // Makes the regular file, or empties this user's existing one; open_own_file() says what is
  // refused. Nothing when another process owns it, or this one already does.
  static result<std::optional<OwnedFile>> open(std::filesystem::path const& file);

  // The process that owns the file: of those that have it open, the one whose number the file
  // begins with, the one that the kernel lists, or the first. Empty when we may not know.
  static std::optional<FileHolder> holder_of(std::filesystem::path const& file);

  OwnedFile(OwnedFile&& from) noexcept;
  OwnedFile& operator=(OwnedFile&&) = delete;
  ~OwnedFile();

  // The text at the offset, and nothing after it.
  result<void> write_end(std::uint64_t offset, std::string_view text) const;

 private:
  explicit OwnedFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

// A file that grows at its end; open_own_file() says what is refused.
class AppendedFile {
 public:
  static result<AppendedFile> open(std::filesystem::path const& file);

  AppendedFile(AppendedFile&& from) noexcept;
  AppendedFile& operator=(AppendedFile&&) = delete;
  ~AppendedFile();

  std::uint64_t size() const { return size_; }
  result<void> add(std::string_view text);

 private:
  AppendedFile(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}

  int descriptor_;
  std::uint64_t size_;
};

}  // namespace nigh::platform
