// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens and makes files and directories at paths where other users may have put something first:
// no symbolic link is followed, nothing of another user is written to, and nobody else may open
// what is made.

#include <filesystem>
#include <nigh/result.hpp>

namespace nigh::platform {

// A descriptor to read and write this user's regular file, which is made where there is none, and
// which only this user may open from then on. An error for a symbolic link, another user's file, a
// file with a second name, and everything that is no regular file.
result<int> open_own_file(std::filesystem::path const& file);

// Makes an empty file, in place of a file or link that was left there. Whoever opens it by its name
// later opens this one, in a directory where others cannot rename it.
result<void> make_new_file(std::filesystem::path const& file, unsigned mode);

// A directory for this user alone, an error where there is something of that name.
result<void> make_new_directory(std::filesystem::path const& directory);

// Makes the directory, for its user alone. An error when there is another's, or one that others may
// write to, or something else of this name, a symbolic link included; and, as OpenSSH has it, when
// another user could put another one in its place: each directory above belongs to this user or to
// root, and only they may write to it, or it has the sticky bit.
result<void> make_private_directory(std::filesystem::path const& directory);

}  // namespace nigh::platform
