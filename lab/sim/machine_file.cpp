// SPDX-License-Identifier: Apache-2.0
// From a machine's file to a Machine, or to the line that is wrong.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "sim/json_lines.hpp"
#include "sim/machine.hpp"
#include "sim/machine_fields.hpp"
#include "sim/machine_levels.hpp"

namespace nigh::sim {

namespace {

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
  auto shape =
      is_synthetic ? topology::from_synthetic(what) : topology::from_xml(file.parent_path() / what);
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
