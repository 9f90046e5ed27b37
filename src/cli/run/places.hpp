// SPDX-License-Identifier: Apache-2.0
#pragma once
// Places as text: OpenMP's notation, and plain lists of cpus.

#include <nigh/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nigh::cli {

using Place = std::vector<int>;  // cpus a thread may run on, Linux's numbers; never empty

// "0,2,4-7": a place for each cpu. "{0,1},{2-3}", "{0:2}" (first:count[:stride]) and "{0,1}:4:2"
// (place:count[:stride]): sets of cpus. The error names the mistake in the text.
result<std::vector<Place>> parse_places(std::string_view text);

// "{0},{2},{4,5}", which every OpenMP runtime reads.
std::string to_string(std::span<Place const> places);

}  // namespace nigh::cli
