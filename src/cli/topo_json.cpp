// SPDX-License-Identifier: Apache-2.0
// The machine as JSON, documented in docs/topology.md. Keys may be added, never renamed or dropped
// without a new "format".

#include <array>
#include <nlohmann/json.hpp>

#include "cli/topo.hpp"

namespace nigh::cli {
namespace {

using Json = nlohmann::ordered_json;

char const* name_of(topology_object::kind kind) {
  constexpr std::array<char const*, 8> names{"machine", "package", "group", "die",
                                             "memory",  "cache",   "core",  "cpu"};
  return names[static_cast<std::size_t>(kind)];
}

Json number_or_null(int n) { return n < 0 ? Json(nullptr) : Json(n); }

Json tree_of(topology_object const& o) {
  using Kind = topology_object::kind;
  Json json{{"type", name_of(o.type)},
            {"name", o.name},
            {"os_index", number_or_null(o.os_index)},
            {"logical_index", o.logical_index}};
  if (o.type == Kind::memory || o.type == Kind::cache) json["size_bytes"] = o.size_bytes;
  if (o.type == Kind::memory || o.type == Kind::cpu) {
    json["domain"] = number_or_null(o.domain);
    json["allowed"] = o.allowed;
  }
  if (!o.children.empty()) {
    auto& children = json["children"] = Json::array();
    for (auto const& child : o.children) children.push_back(tree_of(child));
  }
  return json;
}

Json domains_of(topology const& machine) {
  auto domains = Json::array();
  for (auto const& d : machine.domains())
    domains.push_back({{"index", d.index},
                       {"os_node", number_or_null(d.os_node)},
                       {"memory_bytes", d.memory_bytes},
                       {"nearest_memory", machine.nearest_memory(d.index)},
                       {"cpus", d.cpus}});
  return domains;
}

Json matrix_of(topology const& machine) {
  auto const n = static_cast<int>(machine.domains().size());
  auto matrix = Json::array();
  for (int from = 0; from < n; ++from) {
    auto& row = matrix.emplace_back(Json::array());
    for (int to = 0; to < n; ++to) row.push_back(machine.distance(from, to));
  }
  return {{"source", machine.has_firmware_distances() ? "firmware" : "levels"}, {"matrix", matrix}};
}

constexpr std::array object_levels{level::core,   level::l2,      level::l3,
                                   level::domain, level::package, level::host};

Json groups_of(topology const& machine) {
  Json groups;
  for (auto l : object_levels) groups[std::string(to_string(l))] = machine.groups(l);
  return groups;
}

Json orders_of(topology const& machine, cpu_order how) {
  Json orders;
  for (auto l : object_levels) orders[std::string(to_string(l))] = machine.order(how, l);
  return orders;
}

// A line for each element of `json`, itself an object or array; deeper ones stay on their line.
std::string lines_of(Json const& json, int depth) {
  if (depth == 0 || !json.is_structured() || json.empty()) return json.dump();
  bool const object = json.is_object();
  std::string const indent(object ? 2 : 4, ' ');
  std::string out = object ? "{" : "[";
  for (auto const& [key, value] : json.items()) {
    out += (out.size() > 1 ? ",\n" : "\n") + indent;
    if (object) out += Json(key).dump() + ": ";
    out += lines_of(value, depth - 1);
  }
  return out + (object ? "\n}" : "\n  ]");
}

}  // namespace

std::string topo_json(topology const& machine) {
  Json json{{"format", 1},
            {"description", machine.description()},
            {"is_this_host", machine.is_this_host()},
            {"cpus", machine.cpus()},
            {"cores", machine.cores()},
            {"cpu_domains", machine.cpu_domains()}};
  auto out = lines_of(json, 1);
  out.resize(out.size() - 2);  // the closing brace
  auto const add = [&](char const* key, std::string const& value) {
    out += ",\n  \"" + std::string(key) + "\": " + value;
  };
  add("domains", lines_of(domains_of(machine), 1));
  add("distances", matrix_of(machine).dump());
  add("levels", groups_of(machine).dump());
  add("compact", orders_of(machine, cpu_order::compact).dump());
  add("scatter", orders_of(machine, cpu_order::scatter).dump());
  add("tree", tree_of(machine.root()).dump());
  return out + "\n}\n";
}

}  // namespace nigh::cli
