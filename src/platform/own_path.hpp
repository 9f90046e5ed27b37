// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens and makes files and directories at paths where other users may have put something first. No
// symbolic link is followed, nothing of another user is written to, and no other user may open what
// is made.

#include <filesystem>
#include <nigh/result.hpp>

namespace nigh::platform {

// A descriptor to read and write this user's regular file, which is made if missing, and which only
// this user may open from then on. An error for a symbolic link, another user's file, a file with a
// second name, and anything that is no regular file.
result<int> open_own_file(std::filesystem::path const& file);

// Makes an empty file in place of a file or link that was left there. A process that opens this
// name later opens this file, if others cannot rename files in the directory.
result<void> make_new_file(std::filesystem::path const& file, unsigned mode);

// A directory for this user alone; an error where something has that name.
result<void> make_new_directory(std::filesystem::path const& directory);

// Makes the directory, for its user alone. An error when something else has this name (a symbolic
// link included), when the directory is another user's or others may write to it, and, as OpenSSH
// has it, when another user could replace it: each directory above must belong to this user or to
// root, and only they may write to it, unless it has the sticky bit.
result<void> make_private_directory(std::filesystem::path const& directory);

}  // namespace nigh::platform
