// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work that may crash, take all memory or never end, done by a child of this process: a library
// that reads what anybody may have written.

#include <chrono>
#include <cstddef>
#include <functional>
#include <nigh/result.hpp>
#include <optional>
#include <string>

namespace nigh::platform {

struct ApartLimits {
  std::size_t memory_bytes = 0;  // beyond what this process has
  std::size_t answer_bytes = 0;
  std::chrono::seconds processor_time{20};
  std::chrono::seconds wall_time{60};
};

// What does `work` return in the child? Nothing: it returned nothing, crashed or went beyond a
// limit. An error: there can be no child. The child has this thread only, writes nothing to
// standard output or error, and leaves no trace but its answer.
result<std::optional<std::string>> do_apart(std::function<std::optional<std::string>()> const& work,
                                            ApartLimits const& limits);

}  // namespace nigh::platform
