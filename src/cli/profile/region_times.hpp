// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text that the shim wrote about one process: how long its regions took (src/openmp/study.hpp).

#include <cstdint>
#include <filesystem>
#include <nigh/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/protocol/region_id.hpp"

namespace nigh::cli {

struct RegionTime {
  coordinator::RegionId region = 0;
  int threads = 0;  // 0: one, by num_threads(1) or if(false)
  std::uint64_t runs = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t p10_ns = 0, median_ns = 0, p90_ns = 0;  // of a run
  std::string file = {};                                // its code's file
};

struct ProcessTimes {
  int team = 0;
  std::uint64_t lost = 0;  // runs that were not recorded
  std::string program = {};
  std::vector<RegionTime> regions = {};
};

result<ProcessTimes> parse_times(std::string_view text);

// Of all processes of a run, in a directory where only they write.
result<std::vector<ProcessTimes>> read_times(std::filesystem::path const& directory);

}  // namespace nigh::cli
