// SPDX-License-Identifier: Apache-2.0
#include "platform/cgroup.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/cpu_list.hpp"
#include "platform/whole_file.hpp"

namespace nigh::platform {
namespace {

// The text up to `end`; both are taken away from it.
std::string_view next_part(std::string_view& text, char end) {
  auto const part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t value = 0;
  auto const [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Linux writes spaces in names as \040.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const digits = text.substr(i, 4);
    int code = 0;
    auto const* const end = digits.data() + digits.size();
    if (digits.size() == 4 && digits[0] == '\\' &&
        std::from_chars(digits.data() + 1, end, code, 8).ptr == end) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool is_among(std::string_view controllers, std::string_view one) {
  return std::string(controllers).find(',' + std::string(one) + ',') != std::string::npos;
}

bool leads_up(std::string const& path) { return (path + '/').find("/../") != path.npos; }

// The path from the mounted cgroup down to `group`; nothing where the mount does not show the
// group. A cgroup above the reader's namespace is shown as "/..": the name of the namespace's own
// root below it cannot be known. The mounted group binds it; groups in between are not seen.
std::optional<std::string> below(std::string const& root, std::string const& group) {
  auto const top = root == "/" ? std::string() : root;
  bool const is_below =
      group.starts_with(top) && (group.size() == top.size() || group[top.size()] == '/');
  auto const rest = is_below ? group.substr(top.size()) : std::string();
  if (is_below && !leads_up(rest)) return rest == "/" ? std::string() : rest;
  if (leads_up(top)) return std::string();
  return std::nullopt;
}

// The first levels of the path.
std::string nearest_the_root(std::string path, int levels) {
  std::size_t end = 0;
  for (int level = 0; level <= levels; ++level) {
    end = path.find('/', level == 0 ? 0 : end + 1);
    if (end == path.npos) return path;
  }
  path.resize(end);
  return path;
}

// A file that is not there says nothing: there is no such controller.
std::optional<std::string> text_of(std::string const& file, std::string& odd) {
  std::string text;
  errno = 0;
  if (read_whole_file(file.c_str(), text)) return std::string(trimmed(text));
  if (errno != ENOENT && errno != ENOTDIR && odd.empty())
    odd = file + " cannot be read: " + std::strerror(errno);
  return std::nullopt;
}

void note_odd(std::string const& file, std::string_view text, std::string& odd) {
  if (!odd.empty()) return;
  std::string shown(text.substr(0, 40));
  for (char& c : shown)
    if (std::isprint(static_cast<unsigned char>(c)) == 0) c = '?';
  odd = file + " says \"" + shown + '"';
}

std::optional<double> share_of(std::string_view quota, std::string_view period) {
  auto const used = integer_in(quota);
  auto const of = integer_in(period);
  if (!used || !of || *used <= 0 || *of <= 0) return std::nullopt;
  return static_cast<double>(*used) / static_cast<double>(*of);
}

// "max 100000" or "150000 100000": quota and period in one file.
std::optional<double> quota_v2(std::string const& group, std::string& odd) {
  auto const file = group + "/cpu.max";
  auto const text = text_of(file, odd);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  auto const quota = next_part(rest, ' ');
  if (quota == "max") return std::nullopt;
  auto const share = share_of(quota, trimmed(rest));
  if (!share) note_odd(file, *text, odd);
  return share;
}

// Version 1 has one file for each; a quota of -1 is none.
std::optional<double> quota_v1(std::string const& group, std::string& odd) {
  auto const file = group + "/cpu.cfs_quota_us";
  auto const quota = text_of(file, odd);
  if (!quota || *quota == "-1") return std::nullopt;
  auto const period = text_of(group + "/cpu.cfs_period_us", odd);
  auto const share = share_of(*quota, period.value_or(""));
  if (!share) note_odd(file, *quota, odd);
  return share;
}

}  // namespace

CgroupReader::CgroupReader(std::filesystem::path root) : root_(std::move(root)) {
  auto const in_root = [this](std::string_view path) {
    return (root_ / std::filesystem::path(path).relative_path()).string();
  };
  std::string text;
  if (!read_whole_file(in_root("proc/self/mountinfo").c_str(), text)) {
    mounts_ = {{"/", in_root("sys/fs/cgroup"), ""}, {"/", in_root("sys/fs/cgroup/cpu"), ",cpu,"}};
    return;
  }
  // "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 name rw,options"
  for (std::string_view lines = text; !lines.empty();) {
    auto line = next_part(lines, '\n');
    auto const dash = line.find(" - ");
    if (dash == line.npos) continue;
    auto tail = line.substr(dash + 3);
    auto const type = next_part(tail, ' ');
    if (type != "cgroup" && type != "cgroup2") continue;
    for (int i = 0; i < 3; ++i) next_part(line, ' ');
    Mount mount;
    mount.root = unescaped(next_part(line, ' '));
    mount.point = in_root(unescaped(next_part(line, ' ')));
    if (type == "cgroup") {
      next_part(tail, ' ');
      mount.controllers = ',' + std::string(trimmed(tail)) + ',';
    }
    mounts_.push_back(std::move(mount));
  }
}

void CgroupReader::read_group(Mount const& mount, std::string_view controllers,
                              std::string const& group, CpuGrants& into) const {
  bool const is_v2 = controllers.empty();
  if (is_v2 != mount.controllers.empty()) return;
  bool const has_time = is_v2 || is_among(mount.controllers, "cpu");
  bool const has_cpus = is_v2 || is_among(mount.controllers, "cpuset");
  if (!is_v2 && !(has_time && is_among(controllers, "cpu")) &&
      !(has_cpus && is_among(controllers, "cpuset")))
    return;
  auto const rest = below(mount.root, group);
  if (!rest) {
    if (into.odd.empty()) into.odd = "the cgroup " + group + " is not to be seen from here";
    return;
  }
  if (mount.root.starts_with("/..") && into.odd.empty())
    into.odd = "the names of the cgroups from " + mount.point + " down to " + group +
               " of this namespace are not known here, so their quotas are not seen";
  auto path = nearest_the_root(*rest, most_levels);
  for (;; path.erase(path.rfind('/'))) {
    auto const directory = mount.point + path;
    auto const quota = !has_time ? std::nullopt
                       : is_v2   ? quota_v2(directory, into.odd)
                                 : quota_v1(directory, into.odd);
    struct ::stat about{};
    if (quota && ::stat(directory.c_str(), &about) == 0) {
      GroupId const id{about.st_dev, about.st_ino};
      bool const is_known = std::any_of(into.quotas.begin(), into.quotas.end(),
                                        [&](CpuQuota const& q) { return q.group == id; });
      if (!is_known) into.quotas.push_back({*quota, id, directory});
    }
    if (has_cpus && into.cpus.empty()) {
      auto const list = text_of(
          directory + (is_v2 ? "/cpuset.cpus.effective" : "/cpuset.effective_cpus"), into.odd);
      if (list) into.cpus = base::cpus_in_list(*list);
    }
    if (path.find('/') == path.npos) return;
  }
}

CpuGrants CgroupReader::read(std::string_view groups) const {
  CpuGrants grants;
  while (!groups.empty()) {  // "number:controllers:path"
    auto line = next_part(groups, '\n');
    next_part(line, ':');
    if (line.find(':') == line.npos) continue;
    auto const controllers = next_part(line, ':');
    std::string const group(line);
    if (!group.starts_with('/')) continue;
    auto const named = controllers.empty() ? std::string() : ',' + std::string(controllers) + ',';
    for (Mount const& mount : mounts_) read_group(mount, named, group, grants);
  }
  std::reverse(grants.quotas.begin(), grants.quotas.end());
  std::stable_sort(grants.quotas.begin(), grants.quotas.end(),
                   [](CpuQuota const& a, CpuQuota const& b) { return a.cpus < b.cpus; });
  if (grants.quotas.size() > most_quotas)
    grants.quotas.erase(grants.quotas.begin() + most_quotas, grants.quotas.end());
  return grants;
}

CpuGrants const& CgroupReader::grants_to(std::string const& process) {
  auto const file = (root_ / "proc" / process / "cgroup").string();
  std::string text;
  errno = 0;
  if (!read_whole_file(file.c_str(), text)) {
    auto& unknown = known_[""];
    unknown.odd = file + " cannot be read: " + std::strerror(errno);
    return unknown;
  }
  auto const found = known_.find(text);
  if (found != known_.end() && !text.empty()) return found->second;
  return known_[text] = read(text);
}

CpuGrants const& CgroupReader::grants_to(int pid) { return grants_to(std::to_string(pid)); }
CpuGrants const& CgroupReader::grants_to_this_process() { return grants_to("self"); }

std::optional<double> own_cpu_quota() { return CgroupReader().grants_to_this_process().quota(); }

std::optional<Throttling> throttling_of(CpuQuota const& quota) {
  std::string text;
  if (!read_whole_file((quota.directory + "/cpu.stat").c_str(), text)) return std::nullopt;
  Throttling found;
  bool has_periods = false;
  for (std::string_view lines = text; !lines.empty();) {
    auto line = next_part(lines, '\n');
    auto const key = next_part(line, ' ');
    auto const value = integer_in(trimmed(line));
    if (!value || *value < 0) continue;
    if (key == "nr_periods") found.periods = static_cast<std::uint64_t>(*value), has_periods = true;
    if (key == "nr_throttled") found.throttled = static_cast<std::uint64_t>(*value);
  }
  if (!has_periods) return std::nullopt;
  return found;
}

std::optional<Throttling> throttling_of(CpuGrants const& grants) {
  return grants.quotas.empty() ? std::nullopt : throttling_of(grants.quotas.front());
}

}  // namespace nigh::platform
