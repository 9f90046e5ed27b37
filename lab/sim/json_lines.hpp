// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON that knows its lines, so that a mistake in a file written by hand can be pointed at.

#include <cstddef>
#include <filesystem>
#include <map>
#include <nigh/result.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace nigh::sim {

struct JsonFile {
  std::string name;
  nlohmann::json root;
  std::map<std::string, int> lines;  // by pointer, "/links/between"

  // "FILE:LINE: what", of the value at this pointer, or of what holds it.
  error complaint(std::string pointer, std::string const& what) const;
};

inline constexpr std::size_t largest_machine_file = 1 << 20;

result<std::string> read_text(std::filesystem::path const& file, std::size_t most_bytes);
result<JsonFile> parse_json(std::string name, std::string const& text);

}  // namespace nigh::sim
