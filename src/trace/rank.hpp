// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which one of a job's ranks this process is, for its traces: so that those of all ranks can be put
// on one time line.

#include <cstdint>
#include <optional>
#include <string>

namespace nigh::trace {

struct Rank {
  int rank = 0, ranks = 1;
  std::string host;
  // What this process's steady clock must be given to be rank 0's, and how wrong that may be.
  std::int64_t to_rank_0_ns = 0, clock_error_ns = 0;

  bool operator==(Rank const&) const = default;
};

// Of this process, from now on; before it makes the runtimes whose traces shall tell.
void set_rank(Rank const& rank);
std::optional<Rank> this_rank();

// A member for each field, for a JSON object, with a comma behind the last.
std::string json_members(Rank const& rank);

}  // namespace nigh::trace
