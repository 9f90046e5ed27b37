// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that take the place of others once they are whole, and files that may not be replaced.

#include <cstdio>
#include <filesystem>
#include <nigh/result.hpp>

#include "platform/own_path.hpp"

namespace nigh::platform {

// Opens a file that a process has open already, to go on where that process writes: /dev/stdout,
// /dev/fd/3, or the log of `command >> log` under its own name. Null: the file is none of these.
File open_stream(std::filesystem::path const& file);

// A new file beside `target`. Where there is a target already, only this user may open the new file
// while it is written. It is removed unless it was put in the target's place.
class Replacement {
 public:
  static result<Replacement> beside(std::filesystem::path const& target);

  Replacement(Replacement&& from) noexcept;
  Replacement& operator=(Replacement&&) = delete;
  ~Replacement();

  std::FILE* file() const { return file_.get(); }

  // Closes the file and renames it, with the permissions of the file that was there.
  result<void> put_in_place();

 private:
  Replacement(std::filesystem::path target, std::filesystem::path part, File file);

  std::filesystem::path target_, part_;
  File file_;
};

}  // namespace nigh::platform
