// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which rank of a job is this process? Its traces say so, so that those of all ranks fit on one
// time line.

#include <cstdint>
#include <optional>
#include <string>

namespace nigh::trace {

struct Rank {
  int rank = 0, ranks = 1;
  std::string host;
  // The difference from this process's steady clock to rank 0's, and its possible error.
  std::int64_t to_rank_0_ns = 0, clock_error_ns = 0;

  bool operator==(Rank const&) const = default;
};

// For this process, from now on; call it before making the runtimes whose traces shall tell.
void set_rank(Rank const& rank);
std::optional<Rank> this_rank();

// A member of a JSON object for each field, each with a comma after it.
std::string json_members(Rank const& rank);

}  // namespace nigh::trace
