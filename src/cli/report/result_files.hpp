// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files of results that a report opens: JSON lines of `nigh bench`, `nigh sim`, `nigh profile` and
// `nigh tune`, and profiles of `nigh tune` (docs/results-schema.md).

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace nigh::cli {

// [{"name": FILE, "lines": [...]}] or {"name": FILE, "profile": {...}}. UsageError naming the file,
// and the line where one is wrong.
nlohmann::ordered_json read_result_files(std::vector<std::string> const& files);

}  // namespace nigh::cli
