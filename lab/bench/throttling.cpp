// SPDX-License-Identifier: Apache-2.0
#include "bench/throttling.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace bench {

namespace {

namespace fs = std::filesystem;

// A hierarchy that schedules cpus: where it is mounted, which cgroup is mounted there, and this
// process's cgroup in it.
struct Hierarchy {
  bool is_unified;  // version 2
  fs::path mount, top, own;
};

bool has_word(std::string const& list, std::string const& word) {
  return (',' + list + ',').find(',' + word + ',') != std::string::npos;
}

// /proc/self/cgroup: "NUMBER:CONTROLLERS:CGROUP"; version 2 names no controllers.
fs::path own_cgroup(fs::path const& root, bool is_unified) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    std::string const controllers = line.substr(first + 1, second - first - 1);
    if (is_unified ? controllers.empty() : has_word(controllers, "cpu"))
      return line.substr(second + 1);
  }
  return {};
}

// /proc/self/mountinfo: "ID PARENT DEVICE CGROUP MOUNT OPTIONS [...] - TYPE SOURCE OPTIONS"
std::vector<Hierarchy> hierarchies(fs::path const& root) {
  std::vector<Hierarchy> all;
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    auto const dash = line.find(" - ");
    if (dash == line.npos) continue;
    std::istringstream behind(line.substr(dash + 3)), before(line.substr(0, dash));
    std::string type, source, options, skipped, top, mount;
    behind >> type >> source >> options;
    before >> skipped >> skipped >> skipped >> top >> mount;
    bool const is_unified = type == "cgroup2";
    if (!is_unified && (type != "cgroup" || !has_word(options, "cpu"))) continue;
    all.push_back(
        {is_unified, root / fs::path(mount).relative_path(), top, own_cgroup(root, is_unified)});
  }
  return all;
}

bool has_quota(fs::path const& cgroup, bool is_unified) {
  std::ifstream in(cgroup / (is_unified ? "cpu.max" : "cpu.cfs_quota_us"));
  long quota = 0;  // no number, which is "max", or -1: none
  return in >> quota && quota > 0;
}

std::optional<Throttling> counters(fs::path const& cgroup) {
  std::ifstream in(cgroup / "cpu.stat");
  Throttling found;
  bool is_there = false;
  std::string key;
  for (long value = 0; in >> key >> value;) {
    if (key == "nr_periods") found.periods = value, is_there = true;
    if (key == "nr_throttled") found.throttled = value;
  }
  if (!is_there) return {};
  return found;
}

}  // namespace

std::optional<Throttling> read_throttling(fs::path const& root) {
  for (Hierarchy const& h : hierarchies(root)) {
    // Below what is mounted. A cgroup that the mount does not show is that of a container, which
    // is mounted itself.
    fs::path inside = h.own.lexically_relative(h.top);
    if (inside.empty() || inside == "." || *inside.begin() == "..") inside.clear();
    for (;; inside = inside.parent_path()) {
      fs::path const cgroup = inside.empty() ? h.mount : h.mount / inside;
      if (has_quota(cgroup, h.is_unified))
        if (auto const found = counters(cgroup)) return found;
      if (inside.empty()) break;
    }
  }
  return {};
}

}  // namespace bench
