// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which sizes of teams does a study try?

#include <nigh/result.hpp>
#include <string_view>
#include <vector>

namespace nigh::cli {

// All up to 8; beyond, steps of a half and a third (12, 16, 24, 32, ...) and all cpus: with many
// threads, a region's scaling changes slowly, and every size costs several runs of the program.
std::vector<int> usual_team_sizes(int cpus);

// "1,2,4", "1..8", "1..4,8,16": ascending, each once. The error names the mistake in the text.
result<std::vector<int>> parse_team_sizes(std::string_view text, int cpus);

}  // namespace nigh::cli
