// SPDX-License-Identifier: Apache-2.0
#include "platform/memory_limits.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace nigh::platform {
namespace {

std::string contents(std::filesystem::path const& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  auto const [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc{}) return std::nullopt;
  return value;
}

// The number behind `key` at the beginning of a line, as in "MemAvailable:  123 kB".
std::optional<std::uint64_t> number_of(std::string_view key, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    auto const line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with(key)) return leading_number(line.substr(key.size()));
    at += line.size() + 1;
  }
  return std::nullopt;
}

// Names of the same things in the two versions of cgroups.
struct CgroupFiles {
  char const* limit;
  char const* usage;
  char const* idle_cache;  // in memory.stat
};
constexpr CgroupFiles v1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};
constexpr CgroupFiles v2{"memory.max", "memory.current", "inactive_file "};

std::uint64_t left_in(std::filesystem::path const& group, CgroupFiles const& files) {
  auto const limit = leading_number(contents(group / files.limit));  // "max" is no number
  if (!limit) return no_limit;
  auto const usage = leading_number(contents(group / files.usage)).value_or(0);
  auto const cache = number_of(files.idle_cache, contents(group / "memory.stat")).value_or(0);
  auto const held = usage - std::min(cache, usage);
  return *limit - std::min(held, *limit);
}

std::uint64_t left_up_from(std::filesystem::path const& root, std::string_view group,
                           CgroupFiles const& files) {
  auto left = left_in(root, files);
  auto directory = root;
  for (auto const& part : std::filesystem::path(group).relative_path()) {
    directory /= part;
    left = std::min(left, left_in(directory, files));
  }
  return left;
}

}  // namespace

std::uint64_t available_in_cgroups(std::string_view self_cgroup,
                                   std::filesystem::path const& mount) {
  // Lines are "number:controllers:path", "0::path" for version 2.
  auto left = no_limit;
  while (!self_cgroup.empty()) {
    auto const line = self_cgroup.substr(0, self_cgroup.find('\n'));
    self_cgroup.remove_prefix(std::min(line.size() + 1, self_cgroup.size()));
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    auto const controllers = line.substr(first + 1, second - first - 1);
    auto const group = line.substr(second + 1);
    if (controllers.empty()) left = std::min(left, left_up_from(mount, group, v2));
    if (std::string(1, ',').append(controllers).append(",").find(",memory,") != std::string::npos)
      left = std::min(left, left_up_from(mount / "memory", group, v1));
  }
  return left;
}

std::uint64_t available_bytes() {
  auto const memory = contents("/proc/meminfo");
  auto const available_kib = number_of("MemAvailable:", memory);
  auto const swap_kib = number_of("SwapFree:", memory).value_or(0);
  auto const on_host = available_kib ? (*available_kib + swap_kib) * 1024 : no_limit;
  return std::min(on_host, available_in_cgroups(contents("/proc/self/cgroup"), "/sys/fs/cgroup"));
}

std::uint64_t anonymous_bytes() {
  auto const status = contents("/proc/self/status");
  auto const resident_kib = number_of("RssAnon:", status).value_or(0);
  auto const swapped_kib = number_of("VmSwap:", status).value_or(0);
  return (resident_kib + swapped_kib) * 1024;
}

}  // namespace nigh::platform
