// SPDX-License-Identifier: Apache-2.0
// The machine as text: a tree, the domains, the distances.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/cpu_list.hpp"
#include "cli/topo.hpp"

namespace nigh::cli {
namespace {

using ObjectKind = topology_object::kind;

// A core with its private caches, as one thing: cores that look alike share a line.
struct CoreStack {
  std::vector<topology_object const*> caches;  // outermost first
  topology_object const* core = nullptr;       // or a cpu that is in no core
  std::vector<topology_object const*> cpus;

  bool operator==(CoreStack const& other) const {
    auto const same = [](auto const* a, auto const* b) {
      return a->name == b->name && a->size_bytes == b->size_bytes;
    };
    return core->type == other.core->type && cpus.size() == other.cpus.size() &&
           std::equal(caches.begin(), caches.end(), other.caches.begin(), other.caches.end(), same);
  }
};

// Nothing when `o` holds more than one core, or memory.
std::vector<CoreStack> as_core_stack(topology_object const& o) {
  CoreStack stack;
  auto const* at = &o;
  while (at->type == ObjectKind::cache && at->children.size() == 1) {
    stack.caches.push_back(at);
    at = &at->children.front();
  }
  if (at->type != ObjectKind::core && at->type != ObjectKind::cpu) return {};
  stack.core = at;
  if (at->type == ObjectKind::cpu) stack.cpus.push_back(at);
  for (auto const& child : at->children) {
    if (child.type != ObjectKind::cpu) return {};
    stack.cpus.push_back(&child);
  }
  return {stack};
}

// As taskset writes sets, "0-10:2" for every second one, so that wide cores stay readable.
std::string strided(std::vector<int> const& cpus) {
  auto const step = cpus.size() > 2 ? cpus[1] - cpus[0] : 0;
  for (std::size_t i = 1; i < cpus.size(); ++i)
    if (step < 2 || cpus[i] - cpus[i - 1] != step) return base::cpu_list(cpus);
  return step < 2 ? base::cpu_list(cpus) : fmt::format("{}-{}:{}", cpus.front(), cpus.back(), step);
}

// "cores 0-3, each with L2 1 MiB, L1d 32 KiB: cpus 0-3, SMT 4-7, not allowed: 0,4"
std::string text_of(std::vector<CoreStack> const& alike) {
  auto const& first = alike.front();
  bool const several = alike.size() > 1;
  std::vector<int> cores;
  std::vector<int> forbidden;
  std::vector<std::vector<int>> by_rank(first.cpus.size());
  for (auto const& stack : alike) {
    cores.push_back(stack.core->logical_index);
    for (std::size_t rank = 0; rank < stack.cpus.size(); ++rank) {
      by_rank[rank].push_back(stack.cpus[rank]->os_index);
      if (!stack.cpus[rank]->allowed) forbidden.push_back(stack.cpus[rank]->os_index);
    }
  }
  std::string text;
  if (first.core->type == ObjectKind::core) {
    text = fmt::format("core{} {}", several ? "s" : "", base::cpu_list(cores));
    for (auto const* cache : first.caches)
      text += (cache == first.caches.front() ? several ? ", each with " : " with " : ", ") +
              label_of(*cache);
    text += ": ";
  }
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
    text += fmt::format("{}{}",
                        rank == 0   ? several ? "cpus " : "cpu "
                        : rank == 1 ? ", SMT "
                                    : " / ",
                        strided(by_rank[rank]));
  if (!forbidden.empty()) text += ", not allowed: " + base::cpu_list(forbidden);
  return text;
}

class Tree {
 public:
  explicit Tree(top::Signs const& signs) : signs_(signs) {}

  std::string of(topology_object const& machine) {
    out_ = "machine\n";
    add_children(machine, "");
    return std::move(out_);
  }

 private:
  // A line, and what to draw below it.
  struct Branch {
    std::string text;
    topology_object const* below = nullptr;
  };

  static std::vector<Branch> branches_of(topology_object const& o) {
    std::vector<Branch> branches;
    std::vector<CoreStack> alike;
    auto const flush = [&] {
      if (!alike.empty()) branches.push_back({text_of(alike), nullptr});
      alike.clear();
    };
    for (auto const& child : o.children) {
      auto const stack = as_core_stack(child);
      if (stack.empty() || (!alike.empty() && !(alike.front() == stack.front()))) flush();
      if (stack.empty())
        branches.push_back({label_with_domain(child), &child});
      else
        alike.push_back(stack.front());
    }
    flush();
    return branches;
  }

  static std::string label_with_domain(topology_object const& o) {
    if (o.type != ObjectKind::memory) return label_of(o);
    auto text = "memory: " + label_of(o);
    if (o.domain >= 0) text += fmt::format(" (domain {})", o.domain);
    return o.allowed ? text : text + ", not allowed";
  }

  void add_children(topology_object const& o, std::string const& indent) {
    auto const branches = branches_of(o);
    for (auto const& branch : branches) {
      bool const last = &branch == &branches.back();
      out_ += fmt::format("{}{}{}\n", indent, last ? signs_.last_branch : signs_.branch, branch.text);
      if (branch.below != nullptr)
        add_children(*branch.below, indent + (last ? "   " : std::string(signs_.stem)));
    }
  }

  top::Signs const& signs_;
  std::string out_;
};

std::string domain_table(topology const& machine) {
  std::string out = fmt::format("{:>6} {:>6} {:>10}  {}\n", "domain", "node", "memory", "cpus");
  for (auto const& d : machine.domains()) {
    auto const cpus = d.cpus.empty() ? "none (memory-only)" : base::cpu_list(d.cpus);
    auto const memory = d.os_node < 0         ? "none"
                        : d.memory_bytes == 0 ? "unknown"
                                              : size_text(d.memory_bytes);
    out += fmt::format("{:>6} {:>6} {:>10}  {}", d.index,
                       d.os_node < 0 ? "-" : std::to_string(d.os_node), memory, cpus);
    auto const nearest = machine.nearest_memory(d.index);
    if (nearest != d.index) out += fmt::format(" (memory of domain {})", nearest);
    out += '\n';
  }
  return out;
}

std::string distance_table(topology const& machine) {
  auto const n = static_cast<int>(machine.domains().size());
  auto out = fmt::format("distance from a domain's cpus (row) to a domain's memory (column), {}\n",
                         machine.has_firmware_distances() ? "as the firmware says" : "by level");
  out += fmt::format("{:>6}", "");
  for (int to = 0; to < n; ++to) out += fmt::format(" {:>4}", to);
  for (int from = 0; from < n; ++from) {
    out += fmt::format("\n{:>6}", from);
    for (int to = 0; to < n; ++to) out += fmt::format(" {:>4.3g}", machine.distance(from, to));
  }
  return out + '\n';
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<char const*, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < units.size(); ++unit) value /= 1024;
  auto text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + ' ' + units[unit];
}

std::string label_of(topology_object const& o) {
  switch (o.type) {
    case ObjectKind::machine:
      return "machine";
    case ObjectKind::cache:
      return o.name + ' ' + size_text(o.size_bytes);
    case ObjectKind::memory:
      return fmt::format("node {}, {}", o.os_index,
                         o.size_bytes > 0 ? size_text(o.size_bytes) : "size unknown");
    case ObjectKind::core:
      return fmt::format("core {}", o.logical_index);
    case ObjectKind::cpu:
      return fmt::format("cpu {}", o.os_index);
    case ObjectKind::package:
      return fmt::format("package {}", o.logical_index);
    case ObjectKind::die:
      return fmt::format("die {}", o.logical_index);
    case ObjectKind::group:
      return fmt::format("group {}", o.logical_index);
  }
  return o.name;
}

std::string topo_text(topology const& machine, top::Signs const& signs) {
  auto out = machine.description() + "\n\n" + Tree(signs).of(machine.root()) + '\n';
  out += domain_table(machine);
  if (machine.domains().size() > 1) out += '\n' + distance_table(machine);
  return out;
}

}  // namespace nigh::cli
