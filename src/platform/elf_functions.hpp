// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which functions does a program contain itself? Nothing here throws or allocates.

#include <cstdint>
#include <span>
#include <string_view>

namespace nigh::platform {

enum class Defined : std::uint8_t { no, yes, unknown };

// Whether the program's own code has one of these functions. Unknown: its symbols are stripped, or
// the file cannot be read.
Defined defines_any(char const* file, std::span<char const* const> functions) noexcept;

// Whether the file's bytes say so; false, if it cannot be read.
bool is_true_of_file(char const* file, bool (*question)(std::string_view bytes) noexcept) noexcept;

// Of OpenMP's runtimes, which are then linked statically: no shim can stand between.
inline constexpr char const* openmp_functions[]{"GOMP_parallel", "__kmpc_fork_call"};

}  // namespace nigh::platform
