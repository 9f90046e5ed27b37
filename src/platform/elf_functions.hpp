// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which functions a program brings along itself. Nothing here throws or allocates.

#include <cstdint>
#include <span>

namespace nigh::platform {

enum class Defined : std::uint8_t { no, yes, unknown };

// Whether the program's own code has one of these functions. Unknown: its symbols are stripped, or
// the file cannot be read.
Defined defines_any(char const* file, std::span<char const* const> functions) noexcept;

// Of OpenMP's runtimes, which are linked statically then: nobody can stand between.
inline constexpr char const* openmp_functions[]{"GOMP_parallel", "__kmpc_fork_call"};

}  // namespace nigh::platform
