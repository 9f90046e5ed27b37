// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copy bandwidth (McCalpin's STREAM): the limit of codes that read one array and write another.

#include <cstddef>

#include "bench/crew.hpp"

namespace bench {

enum class Stores { plain, streaming };

bool streaming_copy_available() noexcept;  // does this processor have non-temporal stores?

// Seconds to copy `count` doubles, one contiguous part for each thread. Both pointers
// are aligned to cache lines.
double seconds_to_copy(Crew& crew, double const* from, double* to, std::size_t count,
                       Stores stores);

}  // namespace bench
