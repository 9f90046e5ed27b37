// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/region_times.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>

#include "json/bounded.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;
namespace {

// The shim's table has room for no more (src/openmp/study.cpp), each with the path of a file.
constexpr std::size_t most_regions = 1024;
constexpr std::size_t largest_times = std::size_t{8} << 20;

// The rest of the line; false: it is empty.
bool take_rest(std::istringstream& line, std::string& into) {
  return line.get() == ' ' && std::getline(line, into) && !into.empty();
}

}  // namespace

result<ProcessTimes> parse_times(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line, name;
  ProcessTimes times;
  int format = 0;
  if (!text.ends_with('\n') || !std::getline(lines, line)) return error{"is cut"};
  std::istringstream head(line);
  if (!(head >> name >> format >> times.team >> times.lost) || name != "nigh-openmp-times" ||
      format != 1 || times.team < 1 || !take_rest(head, times.program))
    return error{"is of another nigh: " + line.substr(0, 40)};
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    RegionTime t;
    if (!(words >> std::hex >> t.region >> std::dec >> t.threads >> t.runs >> t.total_ns >>
          t.p10_ns >> t.median_ns >> t.p90_ns) ||
        t.threads < 0)
      return error{"is damaged: " + line.substr(0, 40)};
    if (!take_rest(words, t.file)) t.file.clear();  // code without a file
    if (t.runs == 0) continue;
    if (times.regions.size() == most_regions)
      return error{"tells of more than " + std::to_string(most_regions) + " regions"};
    times.regions.push_back(std::move(t));
  }
  return times;
}

result<std::vector<ProcessTimes>> read_times(fs::path const& directory) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator at(directory, failed), end; !failed && at != end;
       at.increment(failed))
    files.push_back(at->path());
  if (failed) return error{directory.string() + ": " + failed.message()};
  std::sort(files.begin(), files.end());
  std::vector<ProcessTimes> all;
  for (auto const& file : files) {
    auto const text = json::read_file(file, largest_times);
    if (!text) return error{file.string() + ' ' + text.message()};
    auto times = parse_times(*text);
    if (!times) return error{file.string() + ' ' + times.message()};
    all.push_back(std::move(times).value());
  }
  return all;
}

}  // namespace nigh::cli
