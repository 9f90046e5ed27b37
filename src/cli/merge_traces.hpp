// SPDX-License-Identifier: Apache-2.0
#pragma once
// The traces of a job's ranks as one, on rank 0's clock: each rank's runtimes are processes of their
// own there.

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

// Those among the files that are of ranks, by rank.
std::vector<RankTrace> rank_traces(std::vector<std::filesystem::path> const& files);

// How two files cannot be of one run; empty if they can.
std::string misfit(std::vector<RankTrace> const& traces);

// How far apart two events of different ranks may be that are shown at one time.
std::int64_t clock_error_ns(std::vector<RankTrace> const& traces);

// Throws std::runtime_error naming the file that is not what it should be, or cannot be written.
void merge_traces(std::vector<RankTrace> const& traces, std::filesystem::path const& output);

}  // namespace nigh::cli
