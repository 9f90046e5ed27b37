// SPDX-License-Identifier: Apache-2.0
#include "cli/report/result_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/commands.hpp"
#include "json/bounded.hpp"
#include "platform/program.hpp"

namespace nigh::cli {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(std::string const& file, std::string const& why) {
  throw UsageError("report: " + file + ' ' + why);
}

[[noreturn]] void refuse_as_unknown(std::string const& file) {
  if (platform::is_runnable(file))
    refuse(file, "is a program: nigh report -- " + file + " runs it");
  refuse(file, "holds no results of nigh tune, profile, bench or sim");
}

bool is_result(nlohmann::json const& line) {
  auto const bench = line.is_object() ? line.find("bench") : line.end();
  return line.is_object() && bench != line.end() && bench->is_string();
}

Json lines_in(std::string const& file, std::string_view text) {
  auto lines = Json::array();
  for (int number = 1; !text.empty(); ++number) {
    auto const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(" \r\t") == line.npos) continue;
    auto const read = json::read(line);
    bool const is_first = lines.empty();
    if (!read || !is_result(*read)) {
      if (is_first) refuse_as_unknown(file);
      refuse(file, fmt::format("has no result in line {}", number));
    }
    lines.push_back(Json(*read));
  }
  if (lines.empty()) refuse(file, "is empty");
  return lines;
}

Json read_one(std::string const& file) {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  auto const text = json::read_file(file, most_bytes);
  if (!text) refuse(file, text.message());
  if (auto const whole = json::read(*text);
      whole && whole->is_object() && whole->contains("nigh_profile"))
    return {{"name", file}, {"profile", Json(*whole)}};
  return {{"name", file}, {"lines", lines_in(file, *text)}};
}

}  // namespace

Json read_result_files(std::vector<std::string> const& files) {
  auto read = Json::array();
  for (auto const& file : files) read.push_back(read_one(file));
  return read;
}

}  // namespace nigh::cli
