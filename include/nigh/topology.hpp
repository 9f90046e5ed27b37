// SPDX-License-Identifier: Apache-2.0
#pragma once
// The structure of a machine: cpus, cores, caches, locality domains, and how far apart they are.
//
// A topology is a value: it is read once, from this host, from a synthetic description or from an
// hwloc XML file, and neither changes nor touches the system afterwards. It may describe another
// machine: ask is_this_host() before binding anything to it. Any number of threads may read one at
// the same time.

#include <nigh/detail/cxx20.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <nigh/detail/export.hpp>
#include <nigh/result.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nigh {

// The levels of the hierarchy, nearest first.
enum class level : std::uint8_t { cpu, core, l2, l3, domain, package, host, cluster };

NIGH_API std::string_view to_string(level l) noexcept;
NIGH_API std::optional<level> level_from_string(std::string_view name) noexcept;

// In which order threads get cpus: next to each other, or as far apart as possible.
enum class cpu_order : std::uint8_t { compact, scatter };

// A locality domain: the cpus that share a nearest memory. A domain may lack cpus (memory-only, as
// a CXL node) or memory (a NUMA node with cpus whose memory is absent).
struct domain {
  int index = 0;          // place in topology::domains()
  int os_node = -1;       // Linux's number of the NUMA node; -1: it has no memory of its own
  std::vector<int> cpus;  // allowed cpus, Linux's numbers, in hardware order; may be empty
  std::uint64_t memory_bytes = 0;  // total, not free; 0: none

  bool operator==(domain const&) const = default;
};

// One box of the machine's picture. Children are in hardware order; memory belongs to the object it
// is local to, before the other children.
struct topology_object {
  enum class kind : std::uint8_t { machine, package, group, die, memory, cache, core, cpu };

  kind type = kind::machine;
  std::string name;              // "Package", "L3", "NUMANode", "Core", "PU", ...
  int os_index = -1;             // Linux's number, -1 where it has none
  int logical_index = 0;         // hwloc's number among its kind, in hardware order
  std::uint64_t size_bytes = 0;  // memory or cache size, else 0
  int domain = -1;               // of a memory or cpu: its domain's index
  bool allowed = true;           // of a cpu or memory: this process may use it
  std::vector<topology_object> children;
};

class NIGH_API topology {
 public:
  // This host as this process may use it: disallowed cpus (cgroup cpuset, affinity mask of the
  // calling thread; in an OpenMP program that binds its threads, all its places) are kept in the
  // picture, and left out of cpus(), domains() and orders.
  static result<topology> live();

  // hwloc's synthetic notation, for example "pack:4 numa:1 core:2 pu:1".
  static result<topology> from_synthetic(std::string_view description);

  // A file written by `lstopo machine.xml` or `hwloc_topology_export_xml`.
  static result<topology> from_xml(std::string const& path);

  // The same machine with fewer cpus. An error when a cpu of `keep` is not among cpus(), or none is
  // left. Domains that lose their last cpu become memory-only and move behind those with cpus; a
  // domain without memory is then removed.
  result<topology> restricted_to(std::span<int const> keep) const;

  bool is_this_host() const noexcept { return is_this_host_; }
  std::string const& description() const noexcept { return description_; }  // one line for a person

  std::vector<int> const& cpus() const noexcept { return cpus_; }  // allowed, in hardware order
  int cores() const noexcept;                                      // cores that hold an allowed cpu

  // Domains with cpus come first: indices 0 .. cpu_domains()-1, the rest is memory-only.
  std::vector<domain> const& domains() const noexcept { return domains_; }
  int cpu_domains() const noexcept { return cpu_domains_; }

  int domain_of_cpu(int cpu) const noexcept;          // -1 for a cpu that is not allowed or absent
  int domain_of_os_node(int os_node) const noexcept;  // -1 when there is none
  // The domain its cpus' memory comes from: itself, or without memory of its own, the closest with
  // some.
  int nearest_memory(int domain) const noexcept;

  // Relative cost of reaching the memory of domain `to` from domain `from`; 10 is local, as in the
  // firmware's table (ACPI SLIT). Where the firmware gives none: 10 times the amplification factor
  // of the smallest level that holds both (see amplification()).
  double distance(int from, int to) const noexcept;
  bool has_firmware_distances() const noexcept { return has_firmware_distances_; }

  // Relative cost between two cpus, for ordering victims: 0 for the same cpu, otherwise the
  // amplification factor of common_level() below a domain, and distance()/10 times the factor of a
  // domain across domains.
  double cpu_distance(int cpu_a, int cpu_b) const noexcept;
  static double amplification(level l) noexcept;

  // Smallest level whose object holds both cpus; host when one of them is not among cpus().
  level common_level(int cpu_a, int cpu_b) const noexcept;

  // Allowed cpus grouped by their object at `l`, in hardware order; cpus without such an object (a
  // machine without L3, say) are grouped by the next larger level. A cpu that is in no core counts
  // as a core of its own.
  std::vector<std::vector<int>> groups(level l) const;

  // All allowed cpus, in the order threads should take them.
  //   compact at L: fill one L object after the other;
  //   scatter at L: one from each L object in turn.
  // Within an object one cpu of every core comes first, SMT siblings last; compact at level::core
  // and level::cpu puts siblings side by side.
  std::vector<int> order(cpu_order how, level at) const;

  // Allowed cpus of the same core, itself included, ascending.
  std::vector<int> smt_siblings(int cpu) const;

  topology_object const& root() const noexcept { return root_; }

 private:
  friend class topology_builder;
  static constexpr std::size_t levels = static_cast<std::size_t>(level::host) + 1;

  topology() = default;
  int position(int cpu) const noexcept;  // in cpus_, or -1

  topology_object root_;
  std::string source_;  // where it was read from
  std::string description_;
  std::vector<int> cpus_;
  std::vector<domain> domains_;
  // By position in cpus_: at each level an identity of the object that holds the cpu, unique over
  // all levels; where there is no such object, that of the next larger level.
  std::vector<std::array<int, levels>> objects_;
  std::vector<int> domain_of_;        // [position in cpus_]
  std::vector<int> position_of_cpu_;  // [cpu] -> position in cpus_ or -1
  std::vector<double> distances_;     // [from * domains + to]
  std::vector<int> nearest_memory_;   // [domain]
  int cpu_domains_ = 0;
  bool is_this_host_ = false;
  bool has_firmware_distances_ = false;
};

// topology::live(), read once at the first call and kept; aborts with a message when the system
// does not describe itself.
NIGH_API topology const& this_host();

// The cpu the calling thread is running on (Linux's number); the thread may have moved by now
// unless it is pinned; -1 when the system does not say. Costs some nanoseconds.
NIGH_API int current_cpu() noexcept;

}  // namespace nigh
