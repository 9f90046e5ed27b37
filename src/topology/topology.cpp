// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <nigh/topology.hpp>

namespace nigh {
namespace {

struct Rung {
  std::string_view name;
  double amplification;
};

// The factors order victims and places; they are not measured times. Within a domain they only need
// to grow; from the domain on they are the usual values of firmware tables (10, 12, 20); the
// cluster's compares a network round trip with a memory access.
constexpr std::array<Rung, 8> rungs{{{"cpu", 0},
                                     {"core", 0.1},
                                     {"l2", 0.25},
                                     {"l3", 0.5},
                                     {"domain", 1},
                                     {"package", 1.2},
                                     {"host", 2},
                                     {"cluster", 20}}};

}  // namespace

std::string_view to_string(level l) noexcept { return rungs[static_cast<std::size_t>(l)].name; }

std::optional<level> level_from_string(std::string_view name) noexcept {
  auto const* const found =
      std::find_if(rungs.begin(), rungs.end(), [&](Rung const& r) { return r.name == name; });
  if (found == rungs.end()) return std::nullopt;
  return static_cast<level>(std::distance(rungs.begin(), found));
}

double topology::amplification(level l) noexcept {
  return rungs[static_cast<std::size_t>(l)].amplification;
}

int topology::position(int cpu) const noexcept {
  auto const i = static_cast<std::size_t>(cpu);
  return cpu >= 0 && i < position_of_cpu_.size() ? position_of_cpu_[i] : -1;
}

int topology::cores() const noexcept {
  // A core's cpus are neighbours in hardware order.
  int count = 0;
  int last = -1;
  for (auto const& objects : objects_) {
    auto const core = objects[static_cast<std::size_t>(level::core)];
    if (core != last) ++count;
    last = core;
  }
  return count;
}

int topology::domain_of_cpu(int cpu) const noexcept {
  auto const p = position(cpu);
  return p < 0 ? -1 : domain_of_[static_cast<std::size_t>(p)];
}

int topology::domain_of_os_node(int os_node) const noexcept {
  if (os_node < 0) return -1;
  for (auto const& d : domains_)
    if (d.os_node == os_node) return d.index;
  return -1;
}

int topology::nearest_memory(int domain) const noexcept {
  return nearest_memory_[static_cast<std::size_t>(domain)];
}

double topology::distance(int from, int to) const noexcept {
  return distances_[static_cast<std::size_t>(from) * domains_.size() +
                    static_cast<std::size_t>(to)];
}

double topology::cpu_distance(int cpu_a, int cpu_b) const noexcept {
  auto const from = domain_of_cpu(cpu_a);
  auto const to = domain_of_cpu(cpu_b);
  if (from < 0 || to < 0) return amplification(level::host);
  if (from != to) return distance(from, to) / 10 * amplification(level::domain);
  return amplification(std::min(common_level(cpu_a, cpu_b), level::domain));
}

level topology::common_level(int cpu_a, int cpu_b) const noexcept {
  auto const a = position(cpu_a);
  auto const b = position(cpu_b);
  if (a < 0 || b < 0) return level::host;
  if (a == b) return level::cpu;
  auto const& mine = objects_[static_cast<std::size_t>(a)];
  auto const& other = objects_[static_cast<std::size_t>(b)];
  std::size_t l = 0;
  while (mine[l] != other[l]) ++l;                       // ends at the host at the latest
  while (l + 1 < levels && mine[l + 1] == mine[l]) ++l;  // the object's own level, see objects_
  return static_cast<level>(l);
}

}  // namespace nigh
