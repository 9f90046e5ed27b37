// SPDX-License-Identifier: Apache-2.0
// The topology that nigh makes of a machine that hwloc has accepted. The input is a list of
// decisions: levels and their numbers, distances, groups, allowed cpus. hwloc makes that machine;
// every topology made of it has all properties that nigh relies on.
#include <hwloc.h>
#include <hwloc/distances.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fuzz/entry.hpp"
#include "fuzz/topology_asked.hpp"
#include "topology/builder.hpp"

namespace {

class Choices {
 public:
  explicit Choices(std::span<std::uint8_t const> bytes) : bytes_(bytes) {}
  unsigned below(unsigned n) { return at_ < bytes_.size() ? bytes_[at_++] % n : 0; }

 private:
  std::span<std::uint8_t const> bytes_;
  std::size_t at_ = 0;
};

struct Destroy {
  void operator()(hwloc_topology_t t) const noexcept { hwloc_topology_destroy(t); }
  void operator()(hwloc_bitmap_t b) const noexcept { hwloc_bitmap_free(b); }
};
using Machine = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, Destroy>;

std::string levels(Choices& choices) {
  std::string text;
  unsigned cpus = 1;
  for (char const* const kind : {"pack", "group", "l3", "l2", "core"}) {
    auto const n = choices.below(5);
    if (n == 0 || cpus * n > 64) continue;
    if (choices.below(3) == 0) text += "[numa(memory=" + std::to_string(choices.below(4)) + "GB)] ";
    text += std::string(kind) + ':' + std::to_string(n) + ' ';
    cpus *= n;
    for (auto memories = choices.below(6); memories > 3; --memories) text += "[numa] ";
  }
  return text + "pu:" + std::to_string(1 + choices.below(3));
}

Machine synthetic(Choices& choices) {
  hwloc_topology_t t = nullptr;
  if (hwloc_topology_init(&t) != 0) return nullptr;
  Machine machine(t);
  hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_all_types_filter(
      t, choices.below(2) == 0 ? HWLOC_TYPE_FILTER_KEEP_ALL : HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  if (hwloc_topology_set_synthetic(t, levels(choices).c_str()) != 0) return nullptr;
  return hwloc_topology_load(t) == 0 ? std::move(machine) : nullptr;
}

void add_distances(hwloc_topology_t machine, Choices& choices) {
  constexpr unsigned kinds[]{HWLOC_DISTANCES_KIND_MEANS_LATENCY,
                             HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH};
  auto const all = static_cast<unsigned>(hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_NUMANODE));
  auto const n = std::min(all, 2 + choices.below(8));
  if (n < 2) return;
  std::vector<hwloc_obj_t> objects;
  for (unsigned i = 0; i < n; ++i)
    objects.push_back(hwloc_get_obj_by_type(machine, HWLOC_OBJ_NUMANODE, i));
  std::vector<hwloc_uint64_t> values(std::size_t{n} * n);
  for (auto& v : values) v = choices.below(3) == 0 ? choices.below(256) : 10;
  if (choices.below(8) == 0) values[choices.below(n * n)] = ~hwloc_uint64_t{0};
  auto* const handle = hwloc_distances_add_create(
      machine, "fuzz", HWLOC_DISTANCES_KIND_FROM_USER | kinds[choices.below(2)], 0);
  if (handle == nullptr) return;
  if (hwloc_distances_add_values(machine, handle, n, objects.data(), values.data(), 0) == 0)
    hwloc_distances_add_commit(machine, handle,
                               choices.below(2) == 0 ? 0 : HWLOC_DISTANCES_ADD_FLAG_GROUP);
}

void allow_some(hwloc_topology_t machine, Choices& choices) {
  Bitmap const cpus(hwloc_bitmap_alloc()), nodes(hwloc_bitmap_alloc());
  for (auto n = choices.below(20); n > 0; --n) hwloc_bitmap_set(cpus.get(), choices.below(64));
  for (auto n = choices.below(6); n > 0; --n) hwloc_bitmap_set(nodes.get(), choices.below(16));
  if (choices.below(2) == 0)
    hwloc_topology_restrict(machine, cpus.get(),
                            choices.below(2) == 0 ? 0 : HWLOC_RESTRICT_FLAG_REMOVE_CPULESS);
  else
    hwloc_topology_allow(machine, cpus.get(), nodes.get(), HWLOC_ALLOW_FLAG_CUSTOM);
}

bool holds(hwloc_const_bitmap_t set, int index) {
  return hwloc_bitmap_isset(set, static_cast<unsigned>(index)) != 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using nigh::topology_builder;
  fuzz::keep_plugins();
  Choices choices({data, size});
  auto const machine = synthetic(choices);
  if (!machine) return 0;
  if (choices.below(2) == 0) add_distances(machine.get(), choices);
  if (choices.below(2) == 0) allow_some(machine.get(), choices);
  auto whole = topology_builder::whole(machine.get(), "fuzz");
  if (!whole) return 0;
  fuzz::ask_everything(*whole);
  auto const* const cpus = hwloc_topology_get_allowed_cpuset(machine.get());
  auto const* const nodes = hwloc_topology_get_allowed_nodeset(machine.get());
  bool any = false;
  for (int const cpu : whole->cpus()) any |= holds(cpus, cpu);
  if (!any) return 0;
  fuzz::ask_everything(topology_builder::restricted(
      std::move(whole).value(), [&](int cpu) { return holds(cpus, cpu); },
      [&](int node) { return holds(nodes, node); }));
  return 0;
}
