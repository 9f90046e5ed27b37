// SPDX-License-Identifier: Apache-2.0
#include "sim/machine_levels.hpp"

#include <map>

namespace nigh::sim {

namespace {

constexpr double most_cpus = 1 << 24;

int count_of(Fields& fields, std::string const& pointer, double most) {
  auto const* const value = fields.need(pointer);
  if (value == nullptr) return 0;
  if (!value->is_number_integer() || *value < 1 || *value > most) {
    fields.complain(pointer, "is " + value->dump() + ", which is no whole number from 1 on");
    return 0;
  }
  return value->get<int>();
}

// Their names, inside out, by what each says it lies within.
std::vector<std::string> chain(Fields& fields, json const& levels) {
  std::map<std::string, std::string> inner_of;  // by the level around it
  std::string at;
  for (auto const& [name, level] : levels.items()) {
    auto const pointer = "/levels/" + name;
    if (!level.is_object()) {
      fields.complain(pointer, "is no object { }");
      return {};
    }
    if (!level.contains("within")) {
      if (!at.empty()) fields.complain(pointer, "lies within no level, nor does " + at);
      at = name;
      continue;
    }
    auto const outer = fields.text(pointer + "/within");
    if (!levels.contains(outer))
      fields.complain(pointer + "/within", "there is no level \"" + outer + '"');
    else if (auto const [other, is_first] = inner_of.emplace(outer, name); !is_first)
      fields.complain(pointer + "/within", other->second + " lies within " + outer + ", too");
  }
  std::vector<std::string> names;
  for (; !at.empty(); at = inner_of.count(at) != 0 ? inner_of[at] : std::string())
    names.insert(names.begin(), at);
  // Each level lies within one and holds at most one, so what the outermost does not lead to
  // leads back to itself.
  for (auto const& [name, level] : levels.items())
    if (std::find(names.begin(), names.end(), name) == names.end())
      fields.complain("/levels/" + name + "/within", "these levels lie within each other, a cycle");
  return names;
}

StealLevel read_level(Fields& fields, std::string const& name) {
  auto const at = "/levels/" + name;
  fields.only(at, {"within", "cpus", "probe_ns", "lock_ns", "copy_ns", "unlock_ns", "gb_per_s",
                   "interface_ns"});
  return {name,
          level_from_string(name).value_or(nigh::level::cluster),
          count_of(fields, at + "/cpus", most_cpus),
          fields.nanoseconds(at + "/probe_ns"),
          fields.nanoseconds(at + "/lock_ns"),
          fields.nanoseconds(at + "/copy_ns"),
          fields.nanoseconds(at + "/unlock_ns"),
          fields.gb_per_s(at + "/gb_per_s")};
}

// Groups hold whole groups, of growing levels, up to the host, then up to all hosts.
void check_sizes(Fields& fields, Machine const& machine) {
  auto const in_host = static_cast<int>(machine.shape.cpus().size());
  int inner = 1;
  auto last = nigh::level::cpu;
  bool was_beyond = false;
  for (auto const& l : machine.levels) {
    auto const at = "/levels/" + l.name;
    bool const is_beyond = l.level == nigh::level::cluster;
    if (l.cpus % inner != 0 || l.cpus < inner)
      return fields.complain(at + "/cpus", "is " + std::to_string(l.cpus) +
                                               ", no multiple of the level's inside, " +
                                               std::to_string(inner));
    if (l.level < last)
      return fields.complain(at, "lies outside of " + std::string(to_string(last)));
    if (is_beyond ? !was_beyond && in_host != inner : l.cpus > in_host)
      return fields.complain(at + "/cpus", "a host has " + std::to_string(in_host) + " cpus");
    was_beyond = was_beyond || is_beyond;
    inner = l.cpus;
    last = l.level;
  }
  auto const all = machine.hosts.value * in_host;
  if (inner != all)
    fields.complain("/levels/" + machine.levels.back().name + "/cpus",
                    "is " + std::to_string(inner) + "; all of the machine has " +
                        std::to_string(static_cast<long long>(all)));
}

}  // namespace

void read_levels(Fields& fields, Machine& machine) {
  auto const* const levels = fields.find("/levels");
  if (levels == nullptr) return;
  if (!levels->is_object() || levels->empty())
    return fields.complain("/levels", "is no object { } of levels");
  auto const names = chain(fields, *levels);
  for (auto const& name : names) machine.levels.push_back(read_level(fields, name));
  if (machine.levels.empty()) return;
  for (auto const& l : machine.levels) {
    auto const at = "/levels/" + l.name + "/interface_ns";
    bool const is_network = l.level == nigh::level::cluster && l.name == names.back();
    if (is_network)
      machine.interface_ns = fields.nanoseconds(at);
    else if (fields.find(at) != nullptr)
      fields.complain(at, "only the outermost level of several hosts has network interfaces");
  }
  check_sizes(fields, machine);
}

}  // namespace nigh::sim
