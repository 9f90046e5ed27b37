// SPDX-License-Identifier: Apache-2.0
#pragma once
// A machine that need not be here: its topology, the links between its domains, how much memory
// controllers, links and cores carry, and the network if it is a cluster. Read from a file
// (docs/simulator.md), where each number says where it comes from.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nigh/result.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/cpus/core_map.hpp"

namespace nigh::sim {

// Domains and the links between them: how many hops apart two are, and which links their traffic
// takes. Where several shortest ways exist, each carries an equal part.

class LinkGraph {
 public:
  // Links go both ways: link l is directed link 2l from first to second, 2l + 1 back.
  LinkGraph(int domains, std::vector<std::pair<int, int>> links);

  int domains() const noexcept { return domains_; }
  int directed_links() const noexcept { return 2 * static_cast<int>(links_.size()); }
  std::vector<std::pair<int, int>> const& links() const noexcept { return links_; }
  int hops(int from, int to) const noexcept { return hops_[at(from, to)]; }  // -1: no way
  int diameter() const noexcept;

  struct Part {
    int link = 0;  // directed
    double share = 0;
  };
  std::vector<Part> const& route(int from, int to) const noexcept { return routes_[at(from, to)]; }

 private:
  std::size_t at(int from, int to) const noexcept {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(domains_) +
           static_cast<std::size_t>(to);
  }
  void measure_hops();
  std::vector<Part> route_of(int from, int to) const;

  int domains_;
  std::vector<std::pair<int, int>> links_;
  std::vector<int> hops_;
  std::vector<std::vector<Part>> routes_;
};

// A number with its origin: a publication, a data sheet, "fitted: to what", "assumed: why".
struct Sourced {
  double value = 0;
  std::string source;
};

// Workers that can take tasks from each other at the same cost: those of a socket, a host, a
// cluster. A steal is a probe, which tells whether there is something; lock; copy; unlock.
struct StealLevel {
  std::string name;
  nigh::level level = nigh::level::host;  // as policies see it: beyond the host all is cluster
  int cpus = 0;                           // in a group of it
  // Each there and back.
  Sourced probe_ns, lock_ns, copy_ns, unlock_ns;
  Sourced gb_per_s;  // of what is copied
};

struct Machine {
  std::string name;   // of its file, without .json
  std::string title;  // one line for a person
  topology shape;
  std::string shape_source;
  LinkGraph links;  // between the domains, in their order: those without cpus come last
  std::string links_source;

  // A core's stream from memory h hops away is thread_gb_per_s / (1 + per_hop x h).
  Sourced thread_gb_per_s;
  Sourced per_hop;
  // A memory controller, crowded by flows: see Resource.
  Sourced controller_gb_per_s;
  Sourced crowding;
  Sourced uncrowded_flows;
  // Of cpus that share an L3 cache, their way to memory: a front-side bus, a chiplet's link. 0: it
  // is no narrower than what lies behind it.
  Sourced l3_gb_per_s;
  // Of domains without cpus: their controller, and how many hops farther they are than their link
  // alone would make them.
  Sourced apart_gb_per_s;
  Sourced apart_hops;
  // A link, one way; of memory traffic, `read_share` goes towards the core, the rest back.
  Sourced link_gb_per_s;
  Sourced read_share;

  Sourced message_ns;    // one way, between processes
  Sourced barrier_ns;    // fork and join of a parallel region, for each thread
  Sourced slice_ns;      // a thread keeps its cpu so long when others wait for it
  Sourced hop_distance;  // of cpus, for CoreAllocation; within a domain it is 1

  // All of the above is one host. How many there are, alike; a host's network interface, each way,
  // and a message between two hosts, one way. One host has no network.
  Sourced hosts{1, ""};
  Sourced network_gb_per_s{};
  Sourced network_message_ns{};

  bool has_cpus(int domain) const noexcept { return domain < shape.cpu_domains(); }
  // From a core of one domain to memory of another, in hops.
  double way(int domain, int memory) const noexcept {
    return links.hops(domain, memory) + (has_cpus(memory) ? 0 : apart_hops.value);
  }
  // How many times longer than from near memory a core's stream takes.
  double slowdown(int domain, int memory) const noexcept {
    return 1 + per_hop.value * way(domain, memory);
  }

  // Making a task and taking it back, beyond calling what it does. None: what its program says.
  std::optional<Sourced> spawn_ns{};
  std::vector<StealLevel> levels{};  // inside out; the last is all of the machine. May be empty
  Sourced interface_ns{};            // of a host's network interface, for each step of a steal

  // Each number under the name it has in the file.
  std::vector<std::pair<std::string, Sourced>> numbers() const;

  // The view that CoreAllocation has of it.
  policy::CoreMap core_map() const;
};

// The error names file, line and key.
result<Machine> read_machine(std::filesystem::path const& file);
result<Machine> parse_machine(std::string const& file, std::string const& text);

// A file if `name` has a slash or ends in .json, otherwise one of the machines in `folder`.
result<Machine> find_machine(std::string const& name, std::filesystem::path const& folder);
std::vector<std::string> machine_names(std::filesystem::path const& folder);

}  // namespace nigh::sim
