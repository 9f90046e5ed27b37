// SPDX-License-Identifier: Apache-2.0
#include "trace/summary.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <string_view>

namespace nigh::trace {
namespace {

// 2692537 -> "2,692,537"
std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string fixed(char const* format, double value) {
  std::array<char, 64> line{};
  std::snprintf(line.data(), line.size(), format, value);
  return line.data();
}

std::string duration(double ns) {
  if (ns < 1e3) return fixed("%.1f ns", ns);
  if (ns < 1e6) return fixed("%.3f us", ns / 1e3);
  if (ns < 1e9) return fixed("%.3f ms", ns / 1e6);
  return fixed("%.3f s", ns / 1e9);
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "";
  return fixed(" (%.1f%%)", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

Summary operator+(Summary a, Summary const& b) {
  a.runtimes += b.runtimes;
  a.workers += b.workers;
  a.created += b.created;
  a.serialized += b.serialized;
  for (std::size_t l = 0; l < level_count; ++l) a.steals[l] += b.steals[l];
  a.stolen += b.stolen;
  a.failed += b.failed;
  a.parks += b.parks;
  a.busy_ns += b.busy_ns;
  a.elapsed_ns = std::max(a.elapsed_ns, b.elapsed_ns);
  a.events_lost += b.events_lost;
  return a;
}

std::uint64_t all_steals(Summary const& s) {
  return std::accumulate(s.steals.begin(), s.steals.end(), std::uint64_t{0});
}

std::string json_members(Summary const& s) {
  std::string out;
  auto const member = [&out](std::string_view name, std::uint64_t value) {
    out.append("\"").append(name).append("\":").append(std::to_string(value)).append(",");
  };
  member("runtimes", s.runtimes);
  member("workers", s.workers);
  member("created", s.created);
  member("serialized", s.serialized);
  out += "\"steals\":{";
  for (std::size_t l = 0; l < level_count; ++l)
    if (s.steals[l] > 0) member(to_string(static_cast<level>(l)), s.steals[l]);
  if (out.back() == ',') out.pop_back();
  out += "},";
  member("stolen", s.stolen);
  member("failed", s.failed);
  member("parks", s.parks);
  member("busy_ns", s.busy_ns);
  member("elapsed_ns", s.elapsed_ns);
  member("events_lost", s.events_lost);
  out.pop_back();
  return out;
}

std::string text(Summary const& s, std::optional<double> creation_overhead_ns) {
  std::string out;
  auto const line = [&out](std::string name, std::string const& value) {
    name.resize(26, ' ');
    out += name + value + "\n";
  };
  line("workers", grouped(s.workers) + (s.runtimes > 1 ? " in " + grouped(s.runtimes) + " runtimes"
                                                       : std::string()));
  line("elapsed", duration(static_cast<double>(s.elapsed_ns)));
  line("tasks created", grouped(s.created));
  line("average task time",
       s.created == 0 ? "-"
                      : duration(static_cast<double>(s.busy_ns) / static_cast<double>(s.created)));
  if (creation_overhead_ns) line("task creation overhead", duration(*creation_overhead_ns));
  line("tasks serialized", grouped(s.serialized) + share(s.serialized, s.created));
  line("steals", grouped(all_steals(s)) +
                     (all_steals(s) > 0 ? ", of " + grouped(s.stolen) + " tasks" : std::string()));
  for (std::size_t l = 0; l < level_count; ++l)
    if (s.steals[l] > 0)
      line("  within " + std::string(to_string(static_cast<level>(l))),
           grouped(s.steals[l]) + share(s.steals[l], all_steals(s)));
  line("failed steals", grouped(s.failed));
  line("parks", grouped(s.parks));
  if (s.events_lost > 0) line("events overwritten", grouped(s.events_lost));
  return out;
}

}  // namespace nigh::trace
