// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files a command writes for the user.

#include <string>
#include <string_view>

namespace nigh::cli {

// All of `text` in the file, or the file as it was: written beside it, then renamed over it.
// Devices and pipes are written in place; "-" is standard output. Throws UsageError naming the
// file.
void write_output(std::string const& file, std::string_view text);

// Throws that UsageError now, for commands that take long to come to it.
void check_output(std::string const& file);

}  // namespace nigh::cli
