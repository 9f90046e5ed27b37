// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file that one process at a time writes, in pieces, for as long as it lives.

#include <cstdint>
#include <filesystem>
#include <nigh/result.hpp>
#include <optional>
#include <string_view>

namespace nigh::platform {

class OwnedFile {
 public:
  // Makes the regular file, or empties the one that is there. Nothing when another process owns it,
  // or this one already does.
  static result<std::optional<OwnedFile>> open(std::filesystem::path const& file);

  OwnedFile(OwnedFile&& from) noexcept;
  OwnedFile& operator=(OwnedFile&&) = delete;
  ~OwnedFile();

  // The text at the offset, and nothing behind it.
  result<void> write_end(std::uint64_t offset, std::string_view text) const;

 private:
  explicit OwnedFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace nigh::platform
