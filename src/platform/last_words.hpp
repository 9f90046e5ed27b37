// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ending a process that may be stuck anywhere.

#include <string_view>

namespace nigh::platform {

// Writes the line to standard error, unless nobody reads it for a second, and ends the process: no
// exit handler runs, no buffer is written, no other thread is waited for.
[[noreturn]] void end_with(std::string_view line, int status) noexcept;
// The first half of that.
void write_last(std::string_view line) noexcept;

}  // namespace nigh::platform
