// SPDX-License-Identifier: Apache-2.0
#include "platform/limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/cpu_list.hpp"
#include "platform/whole_file.hpp"

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;

// Without the closing newline.
std::string line_in(fs::path const& file) {
  auto text = text_of(file);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<double> number_in(std::string const& text) {
  char* end = nullptr;
  double const value = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return {};
  return value;
}

std::optional<int> integer_in(std::string const& text) {
  auto const value = number_in(text);
  if (!value) return {};
  return static_cast<int>(*value);
}

// The value behind "key:" in a file of such lines (/proc/self/status, /proc/cpuinfo).
std::string field_of(fs::path const& file, std::string const& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) {
      auto const colon = line.find(':');
      if (colon == std::string::npos) continue;
      auto const start = line.find_first_not_of(" \t", colon + 1);
      return start == std::string::npos ? "" : line.substr(start);
    }
  return {};
}

// The selected word of "always [madvise] never".
std::string bracketed(std::string const& text) {
  auto const open = text.find('[');
  auto const close = text.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

// "0.52 0.58 0.59 3/1234 5678": load, then runnable threads, the reader among them.
void read_load(fs::path const& root, limits& found) {
  std::istringstream in(line_in(root / "proc/loadavg"));
  double load = 0;
  double skipped = 0;
  int runnable = 0;
  if (in >> load) found.load = load;
  if (in >> skipped >> skipped >> runnable) found.runnable = std::max(0, runnable - 1);
}

}  // namespace

limits read_limits(fs::path const& root) {
  limits found;
  auto const grants = CgroupReader(root).grants_to_this_process();
  found.cpu_quota = grants.quota();
  found.throttling = throttling_of(grants);
  found.odd_cgroup = grants.odd;
  found.perf_event_paranoid = integer_in(line_in(root / "proc/sys/kernel/perf_event_paranoid"));
  if (auto const on = integer_in(line_in(root / "proc/sys/kernel/numa_balancing")))
    found.numa_balancing = *on != 0;
  found.huge_pages = bracketed(line_in(root / "sys/kernel/mm/transparent_hugepage/enabled"));
  found.governor = line_in(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  read_load(root, found);
  auto const nodes = base::cpus_in_list(line_in(root / "sys/devices/system/node/has_memory"));
  auto const allowed = base::cpus_in_list(field_of(root / "proc/self/status", "Mems_allowed_list"));
  found.nodes_with_memory = static_cast<int>(nodes.size());
  found.nodes_allowed = static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](int node) {
    return std::find(allowed.begin(), allowed.end(), node) != allowed.end();
  }));
  found.virtual_machine =
      (field_of(root / "proc/cpuinfo", "flags") + ' ').find(" hypervisor ") != std::string::npos;
  return found;
}

}  // namespace nigh::platform
