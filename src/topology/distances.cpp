// SPDX-License-Identifier: Apache-2.0
#include "topology/distances.hpp"

#include <hwloc/distances.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <nigh/topology.hpp>
#include <string_view>

namespace nigh {
namespace {

constexpr double local = 10;

// Two domains share a package or only the host: caches and below do not matter for memory.
double by_level(hwloc_topology_t machine, FoundDomain const& a, FoundDomain const& b) {
  for (auto* o = hwloc_get_common_ancestor_obj(machine, a.object, b.object); o != nullptr;
       o = o->parent)
    if (o->type == HWLOC_OBJ_PACKAGE) return local * topology::amplification(level::package);
  return local * topology::amplification(level::host);
}

// The nodes' latencies in hwloc's record, for one matrix of it, or nothing when a node is missing
// or a value is no latency.
std::optional<std::vector<double>> read_matrix(hwloc_distances_s const& matrix,
                                               std::span<FoundDomain const> domains) {
  auto const none = matrix.nbobjs;
  auto const row_of = [&](FoundDomain const& d) {
    return static_cast<unsigned>(std::find(matrix.objs, matrix.objs + none, d.node) - matrix.objs);
  };
  auto const n = domains.size();
  std::vector<double> values(n * n, 0);
  double unit = std::numeric_limits<double>::infinity();
  for (std::size_t from = 0; from < n; ++from) {
    if (domains[from].node == nullptr) continue;
    auto const row = row_of(domains[from]);
    if (row == none) return std::nullopt;
    for (std::size_t to = 0; to < n; ++to) {
      if (domains[to].node == nullptr) continue;
      auto const column = row_of(domains[to]);
      if (column == none) return std::nullopt;
      auto const value = static_cast<double>(matrix.values[row * matrix.nbobjs + column]);
      if (value <= 0) return std::nullopt;
      values[from * n + to] = value;
      if (from == to) unit = std::min(unit, value);
    }
  }
  for (auto& v : values) v *= local / unit;
  return values;
}

// Linux's own table comes before any other latencies that somebody added to the topology.
std::optional<std::vector<double>> firmware_matrix(hwloc_topology_t machine,
                                                   std::span<FoundDomain const> domains) {
  unsigned count = 0;
  constexpr unsigned long latencies = HWLOC_DISTANCES_KIND_MEANS_LATENCY;
  if (hwloc_distances_get_by_type(machine, HWLOC_OBJ_NUMANODE, &count, nullptr, latencies, 0) != 0)
    return std::nullopt;
  std::vector<hwloc_distances_s*> records(count);
  if (hwloc_distances_get_by_type(machine, HWLOC_OBJ_NUMANODE, &count, records.data(), latencies,
                                  0) != 0)
    return std::nullopt;
  auto const firmware = std::find_if(records.begin(), records.end(), [&](auto* r) {
    auto const* const name = hwloc_distances_get_name(machine, r);
    return name != nullptr && std::string_view(name) == "NUMALatency";
  });
  if (firmware != records.end()) std::iter_swap(records.begin(), firmware);
  std::optional<std::vector<double>> found;
  for (auto* r : records) {
    if (!found) found = read_matrix(*r, domains);
    hwloc_distances_release(machine, r);
  }
  return found;
}

}  // namespace

DomainDistances distances_between(hwloc_topology_t machine, std::span<FoundDomain const> domains) {
  DomainDistances result;
  if (auto matrix = firmware_matrix(machine, domains)) {
    result.values = std::move(*matrix);
    result.from_firmware = true;
  }
  auto const n = domains.size();
  result.values.resize(n * n, 0);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) {
      auto& value = result.values[from * n + to];
      if (value == 0) value = from == to ? local : by_level(machine, domains[from], domains[to]);
    }
  return result;
}

}  // namespace nigh
