// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which sizes of teams a study tries.

#include <nigh/result.hpp>
#include <string_view>
#include <vector>

namespace nigh::cli {

// All up to 8; beyond, steps of a half and a third (12, 16, 24, 32, ...) and all cpus: how a region
// scales with so many changes slowly, and every size is several runs of the program.
std::vector<int> usual_team_sizes(int cpus);

// "1,2,4", "1..8", "1..4,8,16": ascending, each once. The error is about the text.
result<std::vector<int>> parse_team_sizes(std::string_view text, int cpus);

}  // namespace nigh::cli
