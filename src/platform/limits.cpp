// SPDX-License-Identifier: Apache-2.0
#include "platform/limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;

// The file's text without the closing newline; empty when it cannot be read.
std::string text_of(fs::path const& file) {
  std::ifstream in(file);
  std::string text(std::istreambuf_iterator<char>(in), {});
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

// The numbers of a kernel list such as "0-3,8".
std::vector<int> members_of_list(std::string const& list) {
  std::vector<int> members;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) {
    auto const first = integer_in(part);
    if (!first) continue;
    auto const dash = part.find('-');
    auto const last = dash == std::string::npos ? first : integer_in(part.substr(dash + 1));
    for (int i = *first; last && i <= *last; ++i) members.push_back(i);
  }
  return members;
}

// The selected word of "always [madvise] never".
std::string bracketed(std::string const& text) {
  auto const open = text.find('[');
  auto const close = text.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

// Cgroup version 2 writes "max 100000" or "150000 100000": quota and period in one file.
std::optional<double> quota_v2(fs::path const& group) {
  std::istringstream in(text_of(group / "cpu.max"));
  double quota = 0;
  double period = 0;
  if (!(in >> quota >> period) || period <= 0) return {};
  return quota / period;
}

// Version 1 has a file for each; a quota of -1 is none.
std::optional<double> quota_v1(fs::path const& group) {
  auto const quota = number_in(text_of(group / "cpu.cfs_quota_us"));
  auto const period = number_in(text_of(group / "cpu.cfs_period_us"));
  if (!quota || !period || *quota <= 0 || *period <= 0) return {};
  return *quota / *period;
}

// The tightest quota from the process's group up to the root: each of them binds. Inside a
// container the path may name folders that only its host sees; the walk then ends at the mount,
// which is the container's own group.
std::optional<double> tightest_quota(fs::path const& mount, fs::path const& group,
                                     std::optional<double> (*quota_of)(fs::path const&)) {
  std::optional<double> tightest;
  for (fs::path at = group.relative_path();; at = at.parent_path()) {
    if (auto const quota = quota_of(at.empty() ? mount : mount / at))
      tightest = std::min(*quota, tightest.value_or(*quota));
    if (at.empty()) return tightest;
  }
}

std::optional<double> read_cpu_quota(fs::path const& root) {
  fs::path const mount = root / "sys/fs/cgroup";
  std::optional<double> tightest;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // "number:controllers:path"
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string const controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    fs::path const group = line.substr(second + 1);
    std::optional<double> quota;
    if (controllers == ",,") quota = tightest_quota(mount, group, quota_v2);
    if (controllers.find(",cpu,") != std::string::npos)
      quota = tightest_quota(mount / "cpu", group, quota_v1);
    if (quota) tightest = std::min(*quota, tightest.value_or(*quota));
  }
  return tightest;
}

// "0.52 0.58 0.59 3/1234 5678": load, then runnable threads, the reader among them.
void read_load(fs::path const& root, limits& found) {
  std::istringstream in(text_of(root / "proc/loadavg"));
  double load = 0;
  double skipped = 0;
  int runnable = 0;
  if (in >> load) found.load = load;
  if (in >> skipped >> skipped >> runnable) found.runnable = std::max(0, runnable - 1);
}

}  // namespace

limits read_limits(fs::path const& root) {
  limits found;
  found.cpu_quota = read_cpu_quota(root);
  found.perf_event_paranoid = integer_in(text_of(root / "proc/sys/kernel/perf_event_paranoid"));
  if (auto const on = integer_in(text_of(root / "proc/sys/kernel/numa_balancing")))
    found.numa_balancing = *on != 0;
  found.huge_pages = bracketed(text_of(root / "sys/kernel/mm/transparent_hugepage/enabled"));
  found.governor = text_of(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  read_load(root, found);
  auto const nodes = members_of_list(text_of(root / "sys/devices/system/node/has_memory"));
  auto const allowed = members_of_list(field_of(root / "proc/self/status", "Mems_allowed_list"));
  found.nodes_with_memory = static_cast<int>(nodes.size());
  found.nodes_allowed = static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](int node) {
    return std::find(allowed.begin(), allowed.end(), node) != allowed.end();
  }));
  found.virtual_machine =
      (field_of(root / "proc/cpuinfo", "flags") + ' ').find(" hypervisor ") != std::string::npos;
  return found;
}

}  // namespace nigh::platform
