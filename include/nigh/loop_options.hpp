// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options that all loops share.

#include <nigh/detail/cxx20.hpp>

#include <cstddef>
#include <cstdint>
#include <nigh/detail/schedule_value.hpp>
#include <nigh/stop_token.hpp>
#include <optional>

namespace nigh {

class runtime;
class team;

struct index_range {  // half open
  std::size_t begin = 0;
  std::size_t end = 0;

  constexpr std::size_t size() const noexcept { return end - begin; }
  constexpr bool operator==(index_range const&) const = default;
};

// The result that a body may return instead of nothing.
enum class loop_flow : std::uint8_t {
  go_on,
  leave,  // the loop ends early
};

struct loop_options {
  std::optional<schedule> how = {};  // none: the runtime's default, runtime_options::loops
  stop_token stop = {};              // asked before each piece; when it is set, the loop ends early
  runtime* where = nullptr;          // null: the calling worker's, else the default one
  // Pieces begin at multiples of this many iterations after the first, with any schedule. 0: 1.
  std::size_t grain = 0;
  // For a loop of a task loop's team (team.hpp): its members run it. null: all workers of the
  // runtime may.
  team const* members = nullptr;
};

}  // namespace nigh
