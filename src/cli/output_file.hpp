// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files a command writes for the user, and what it says beside them.

#include <string>
#include <string_view>

namespace nigh::cli {

// Writes all of `text` into the file, or leaves the file as it was: the text is written beside it,
// then renamed over it. Devices and pipes are written in place; "-" is standard output. Throws
// UsageError naming the file.
void write_output(std::string const& file, std::string_view text);

// Throws that UsageError now, for commands that write much later.
void check_output(std::string const& file);

// On standard error, after "nigh: COMMAND: ".
void say(std::string_view command, std::string_view what);

}  // namespace nigh::cli
