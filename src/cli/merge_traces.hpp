// SPDX-License-Identifier: Apache-2.0
#pragma once
// The traces of a job's ranks as one trace, on rank 0's clock, with each rank's runtimes as
// processes.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/traced_run.hpp"

namespace nigh::cli {

struct RankTrace {
  std::filesystem::path file;
  ReadTrace read;
  trace::Rank rank;  // of `read`
};

// The ranks' files among these, by rank.
std::vector<RankTrace> rank_traces(std::vector<std::filesystem::path> const& files);

// Those of them that hold what their rank did. A rank that was killed could not write it.
std::vector<RankTrace> written(std::vector<RankTrace> const& traces);

// Why two files cannot be of one run; empty if they can.
std::string misfit(std::vector<RankTrace> const& traces);

// How far apart two events of different ranks may be that are shown at one time.
std::int64_t clock_error_ns(std::vector<RankTrace> const& traces);

// Throws std::runtime_error naming a file that has wrong contents, or cannot be written.
void merge_traces(std::vector<RankTrace> const& traces, std::filesystem::path const& output);

}  // namespace nigh::cli
