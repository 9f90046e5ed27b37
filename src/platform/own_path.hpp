// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens and makes files and directories at paths where other users may have put something first. No
// symbolic link is followed, nothing of another user is written to, and no other user may open what
// is made.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nigh/result.hpp>
#include <string>

namespace nigh::platform {

// A descriptor to read and write this user's regular file, which is made if missing, and which only
// this user may open from then on. An error for a symbolic link, another user's file, a file with a
// second name, and anything that is no regular file.
result<int> open_own_file(std::filesystem::path const& file);

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Makes an empty file in place of a file or link that was left there, open for writing: others who
// may write to the directory can give its name to another file at once.
result<File> make_new_file(std::filesystem::path const& file, unsigned mode);

// Makes an empty file that only this user may open, in this directory, under a name that begins so
// and that nobody can guess. Its path.
result<std::filesystem::path> make_temporary_file(std::filesystem::path const& directory,
                                                  std::string const& name_begins);

// Whether all that was written is in the file, which is closed.
bool is_closed_well(File file) noexcept;

// A directory for this user alone; an error where something has that name.
result<void> make_new_directory(std::filesystem::path const& directory);

// As after su or sudo, which may leave HOME as it was: what root makes there its owner cannot
// change.
bool is_root_in_home_of_another(std::filesystem::path const& home) noexcept;

// Makes the directory, for its user alone. An error when something else has this name (a symbolic
// link included), when the directory is another user's or others may write to it, and, as OpenSSH
// has it, when another user could replace it: each directory above must belong to this user or to
// root, and only they may write to it, unless it has the sticky bit.
result<void> make_private_directory(std::filesystem::path const& directory);

}  // namespace nigh::platform
