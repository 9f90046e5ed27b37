// SPDX-License-Identifier: Apache-2.0
// From a machine's file to a Machine, or to the line that is wrong.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sim/json_lines.hpp"
#include "sim/machine.hpp"
#include "topology/synthetic_size.hpp"

namespace nigh::sim {

namespace {

// The fields of a machine's file by their pointers ("/links/between"), and what is wrong with them.

using nlohmann::json;

enum class Least { above_zero, zero };

// The first mistake is kept; what is read after it does not matter.
class Fields {
 public:
  Fields(JsonFile const& file, std::optional<error>& mistake) : file_(file), mistake_(mistake) {}

  // The members of an object that are of use; any other one is a mistake.
  void only(std::string const& pointer, std::set<std::string> const& known) {
    json const* const object = find(pointer);
    if (object == nullptr) return;
    if (!object->is_object()) return complain(pointer, "is no object { }");
    for (auto const& [key, value] : object->items())
      if (known.count(key) == 0) complain(pointer + '/' + key, "unknown key");
  }

  json const* need(std::string const& pointer) {
    json const* const value = find(pointer);
    if (value == nullptr) complain(pointer, "is missing");
    return value;
  }
  json const* find(std::string const& pointer) const {
    json const* at = &file_.root;
    for (std::size_t begin = 1; begin < pointer.size();) {
      auto const end = std::min(pointer.find('/', begin), pointer.size());
      auto const key = pointer.substr(begin, end - begin);
      if (!at->is_object() || !at->contains(key)) return nullptr;
      at = &(*at)[key];
      begin = end + 1;
    }
    return at;
  }

  std::string text(std::string const& pointer) {
    json const* const value = need(pointer);
    if (value == nullptr) return {};
    if (!value->is_string() || value->get<std::string>().empty()) {
      complain(pointer, "is no text");
      return {};
    }
    return value->get<std::string>();
  }

  // Of any machine that is worth a thought; beyond these, simulated times are out of hand.
  static constexpr double most_ns = 1e9, least_gb_per_s = 1e-3, most_gb_per_s = 1e6;
  static constexpr double most_times = 1e3, most_count = 1e6;

  Sourced nanoseconds(std::string const& pointer) { return number(pointer, Least::zero, most_ns); }
  Sourced gb_per_s(std::string const& pointer) {
    auto const n = number(pointer, Least::above_zero, most_gb_per_s);
    if (n.value > 0 && n.value < least_gb_per_s)
      complain(pointer + "/value", "is less than " + json(least_gb_per_s).dump());
    return n;
  }
  // How many times as much as without it, or a part.
  Sourced factor(std::string const& pointer) { return number(pointer, Least::zero, most_times); }

  Sourced number(std::string const& pointer, Least least, double most) {
    if (need(pointer) == nullptr) return {};
    only(pointer, {"value", "source"});
    Sourced number{0, text(pointer + "/source")};
    json const* const value = need(pointer + "/value");
    if (value == nullptr) return number;
    if (!value->is_number()) {
      complain(pointer + "/value", "is no number");
      return number;
    }
    number.value = value->get<double>();
    bool const is_enough = least == Least::zero ? number.value >= 0 : number.value > 0;
    if (!is_enough || number.value > most)
      complain(pointer + "/value", "is " + value->dump() + ", which is not " +
                                       (least == Least::zero ? "0 or more" : "above 0") +
                                       (is_enough ? " and at most " + json(most).dump() : ""));
    return number;
  }

  void complain(std::string const& pointer, std::string const& what) {
    if (mistake_) return;
    mistake_ =
        file_.complaint(pointer, (pointer.empty() ? "the file" : pointer.substr(1)) + ": " + what);
  }

 private:
  JsonFile const& file_;
  std::optional<error>& mistake_;
};

// The part of a machine's file about taking work from afar.

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

// The machine's shape and hosts are read already.
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

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int file_format = 1;

result<topology> read_shape(Fields& fields, fs::path const& file) {
  fields.only("/topology", {"synthetic", "xml", "source"});
  bool const is_synthetic = fields.find("/topology/synthetic") != nullptr;
  if (is_synthetic == (fields.find("/topology/xml") != nullptr)) {
    fields.complain("/topology", "needs either \"synthetic\" or \"xml\"");
    return error{};
  }
  auto const what = fields.text(is_synthetic ? "/topology/synthetic" : "/topology/xml");
  // hwloc and the simulator take minutes for larger hosts.
  constexpr unsigned long most_cpus_of_a_host = 4096;
  auto const too_many = "has more than " + std::to_string(most_cpus_of_a_host) + " cpus";
  if (is_synthetic && asks_for_more_cpus(what, most_cpus_of_a_host)) {
    fields.complain("/topology/synthetic", too_many);
    return error{};
  }
  auto shape =
      is_synthetic ? topology::from_synthetic(what) : topology::from_xml(file.parent_path() / what);
  if (shape && shape->cpus().size() > most_cpus_of_a_host)
    fields.complain("/topology/xml", too_many);
  // All routes between them are kept, which are GBs for a ring of a thousand.
  constexpr std::size_t most_domains_of_a_host = 256;
  if (shape && shape->domains().size() > most_domains_of_a_host)
    fields.complain(is_synthetic ? "/topology/synthetic" : "/topology/xml",
                    "has more than " + std::to_string(most_domains_of_a_host) + " domains");
  if (!shape)
    fields.complain(is_synthetic ? "/topology/synthetic" : "/topology/xml", shape.message());
  return shape;
}

std::vector<std::pair<int, int>> read_links(Fields& fields, int domains) {
  std::vector<std::pair<int, int>> links;
  json const* const list = fields.need("/links/between");
  if (list == nullptr) return links;
  if (!list->is_array()) {
    fields.complain("/links/between", "is no list [ ]");
    return links;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    json const& pair = (*list)[i];
    auto const pointer = "/links/between/" + std::to_string(i);
    bool const is_pair = pair.is_array() && pair.size() == 2 && pair[0].is_number_integer() &&
                         pair[1].is_number_integer();
    if (!is_pair) {
      fields.complain(pointer, pair.dump() + " is no pair of domains such as [0, 1]");
      return links;
    }
    auto const a = pair[0].get<long long>(), b = pair[1].get<long long>();
    if (a < 0 || b < 0 || a >= domains || b >= domains || a == b) {
      fields.complain(pointer, pair.dump() + " does not link two of the " +
                                   std::to_string(domains) + " domains");
      return links;
    }
    std::pair<int, int> const link{static_cast<int>(std::min(a, b)),
                                   static_cast<int>(std::max(a, b))};
    if (std::find(links.begin(), links.end(), link) != links.end()) {
      fields.complain(pointer, pair.dump() + " is there twice");
      return links;
    }
    links.push_back(link);
  }
  return links;
}

void check_ways(Fields& fields, LinkGraph const& links) {
  for (int d = 0; d < links.domains(); ++d)
    if (links.hops(0, d) < 0) {
      fields.complain("/links/between", "no way from domain 0 to domain " + std::to_string(d) +
                                            ": a link is missing");
      return;
    }
}

}  // namespace

result<Machine> parse_machine(std::string const& name, std::string const& text) {
  auto const file = parse_json(name, text);
  if (!file) return file.to_error();
  std::optional<error> mistake;
  Fields fields(*file, mistake);
  fields.only("", {"format", "title", "topology", "memory", "links", "costs", "network", "levels"});
  json const* const format = fields.need("/format");
  if (format != nullptr && *format != file_format)
    fields.complain("/format",
                    "is " + format->dump() + ", this nigh reads " + std::to_string(file_format));
  auto const title = fields.text("/title");
  auto const shape_source = fields.text("/topology/source");
  auto const shape = read_shape(fields, name);
  if (mistake) return *mistake;

  int const domains = static_cast<int>(shape->domains().size());
  bool const stands_apart = domains > shape->cpu_domains();
  bool const has_links = domains > 1;
  auto const links = has_links ? read_links(fields, domains) : std::vector<std::pair<int, int>>{};
  if (mistake) return *mistake;
  LinkGraph const graph(domains, links);
  if (has_links) {
    fields.only("/links", {"between", "source", "gb_per_s", "distance"});
    check_ways(fields, graph);
  } else if (fields.find("/links") != nullptr) {
    fields.complain("/links", "this machine has one domain, so there is nothing to link");
  }
  auto const only_if = [](bool is_there, auto const& read) {
    return is_there ? read() : Sourced{};
  };
  fields.only("/memory", {"thread_gb_per_s", "per_hop", "controller_gb_per_s", "crowding",
                          "uncrowded_flows", "l3_gb_per_s", "apart", "read_share"});
  if (stands_apart)
    fields.only("/memory/apart", {"gb_per_s", "hops"});
  else if (fields.find("/memory/apart") != nullptr)
    fields.complain("/memory/apart", "each domain of this machine has cpus");
  fields.only("/costs", {"message_ns", "barrier_ns", "slice_ns", "spawn_ns"});
  bool const has_network = fields.find("/network") != nullptr;
  if (has_network) fields.only("/network", {"hosts", "gb_per_s", "message_ns"});
  Machine machine{
      fs::path(name).stem().string(),
      title,
      *shape,
      shape_source,
      graph,
      has_links ? fields.text("/links/source") : std::string(),
      fields.gb_per_s("/memory/thread_gb_per_s"),
      fields.factor("/memory/per_hop"),
      fields.gb_per_s("/memory/controller_gb_per_s"),
      fields.factor("/memory/crowding"),
      fields.number("/memory/uncrowded_flows", Least::zero, Fields::most_count),
      only_if(fields.find("/memory/l3_gb_per_s") != nullptr,
              [&] { return fields.gb_per_s("/memory/l3_gb_per_s"); }),
      only_if(stands_apart, [&] { return fields.gb_per_s("/memory/apart/gb_per_s"); }),
      only_if(stands_apart, [&] { return fields.factor("/memory/apart/hops"); }),
      only_if(has_links, [&] { return fields.gb_per_s("/links/gb_per_s"); }),
      fields.number("/memory/read_share", Least::zero, 1),
      fields.nanoseconds("/costs/message_ns"),
      fields.nanoseconds("/costs/barrier_ns"),
      fields.nanoseconds("/costs/slice_ns"),
      only_if(
          has_links,
          [&] { return fields.number("/links/distance", Least::above_zero, Fields::most_count); }),
      has_network ? fields.number("/network/hosts", Least::above_zero, Fields::most_count)
                  : Sourced{1, ""},
      only_if(has_network, [&] { return fields.gb_per_s("/network/gb_per_s"); }),
      only_if(has_network, [&] {
        return fields.number("/network/message_ns", Least::above_zero, Fields::most_ns);
      })};
  double const hosts = machine.hosts.value;
  if (has_network && (hosts != std::floor(hosts) || hosts < 2))
    fields.complain("/network/hosts/value", "is no whole number from 2 on");
  if (fields.find("/costs/spawn_ns") != nullptr)
    machine.spawn_ns = fields.nanoseconds("/costs/spawn_ns");
  if (mistake) return *mistake;
  read_levels(fields, machine);
  if (mistake) return *mistake;
  return machine;
}

result<Machine> read_machine(fs::path const& path) {
  auto const text = read_text(path, largest_machine_file);
  if (!text) return text.to_error();
  return parse_machine(path.string(), *text);
}

}  // namespace nigh::sim
