// SPDX-License-Identifier: Apache-2.0
// Where topologies are read from.

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/cpu_list.hpp"
#include "base/printable.hpp"
#include "base/published.hpp"
#include "platform/affinity.hpp"
#include "platform/answering_child.hpp"
#include "platform/host.hpp"
#include "topology/builder.hpp"
#include "topology/synthetic_size.hpp"

namespace nigh {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t t) const noexcept { hwloc_topology_destroy(t); }
};
using Machine = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

// Another machine, all of it; null when hwloc has no memory left.
Machine empty_machine() {
  hwloc_topology_t t = nullptr;
  if (hwloc_topology_init(&t) != 0) return nullptr;
  hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return Machine(t);
}

bool holds(hwloc_const_bitmap_t set, int index) {
  return hwloc_bitmap_isset(set, static_cast<unsigned>(index)) != 0;
}

// Without what the topology itself marks as not allowed.
result<topology> allowed_part(hwloc_topology_t machine, std::string const& source) {
  auto full = topology_builder::whole(machine, source);
  if (!full) return full;
  auto const cpus = hwloc_topology_get_allowed_cpuset(machine);
  auto const nodes = hwloc_topology_get_allowed_nodeset(machine);
  auto allowed = topology_builder::restricted(
      std::move(full).value(), [&](int cpu) { return holds(cpus, cpu); },
      [&](int node) { return holds(nodes, node); });
  if (allowed.cpus().empty()) return error{source + ": none of its cpus is allowed"};
  return allowed;
}

// A name fit for a message: one line, not endless.
std::string printable(std::string_view text) {
  constexpr std::size_t longest = 200;
  auto quoted = base::printable(text.substr(0, longest));
  if (text.size() > longest) quoted += "...";
  return quoted;
}

std::string name_of_host(hwloc_topology_t host) {
  auto const* const name = hwloc_obj_get_info_by_name(hwloc_get_root_obj(host), "HostName");
  auto* const package = hwloc_get_obj_by_type(host, HWLOC_OBJ_PACKAGE, 0);
  auto const* const model =
      package != nullptr ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  std::string text = name != nullptr ? name : "this host";
  if (model != nullptr) text += std::string(" (") + model + ')';
  return printable(text);
}

constexpr std::size_t largest_xml = std::size_t{16} << 20;  // of 10,000 cpus: 8 MB

result<std::string> contents_of(std::filesystem::path const& file) {
  auto const refused = [&](std::string const& why) {
    return error{"cannot read " + printable(file.string()) + ": " + why};
  };
  std::error_code failed;
  if (std::filesystem::is_directory(file, failed)) return refused("it is a directory");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text(largest_xml + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) return refused(std::strerror(errno));
  text.resize(static_cast<std::size_t>(in.gcount()));
  text.shrink_to_fit();
  if (text.size() > largest_xml)
    return refused("it is larger than " + std::to_string(largest_xml) + " bytes");
  return text;
}

// Null: hwloc refuses it.
Machine loaded(std::string const& xml) {
  auto machine = empty_machine();
  constexpr int deepest = 64;  // levels of objects; functions that walk them call themselves
  bool const is_loaded = machine && !xml.empty() && xml.size() < INT_MAX &&
                         hwloc_topology_set_xmlbuffer(machine.get(), xml.c_str(),
                                                      static_cast<int>(xml.size()) + 1) == 0 &&
                         hwloc_topology_load(machine.get()) == 0;
  return is_loaded && hwloc_topology_get_depth(machine.get()) <= deepest ? std::move(machine)
                                                                         : Machine();
}

// Precedes the child's answer: the machine as hwloc writes it, what is wrong with it, or nothing:
// hwloc refuses it.
constexpr char machine_follows = 'm', fault_follows = 'f', refusal = 'r';

// hwloc, too, refuses a machine when a part of it finds no memory.
std::optional<std::string> refused(int why) {
  if (why == ENOMEM) return std::nullopt;
  return std::string(1, refusal);
}

// Nothing: there was not enough memory. Otherwise the machine was read again from hwloc's own
// output without complaint: reading it once more prints nothing on standard error.
std::optional<std::string> rewritten(std::string const& xml, std::string const& name) {
  errno = 0;
  auto machine = loaded(xml);
  if (!machine) return refused(errno);
  char* buffer = nullptr;
  int size = 0;
  if (hwloc_topology_export_xmlbuffer(machine.get(), &buffer, &size, 0) != 0 || size <= 0)
    return std::nullopt;
  std::string text(buffer, static_cast<std::size_t>(size) - 1);
  hwloc_free_xmlbuffer(machine.get(), buffer);
  errno = 0;
  machine = loaded(text);
  if (!machine) return refused(errno);
  auto const allowed = allowed_part(machine.get(), name);
  return allowed ? machine_follows + text : fault_follows + allowed.message();
}

}  // namespace

result<topology> topology::live() {
  auto const host = platform::host_hwloc();
  if (!host) return host.to_error();
  auto const machine = *host;
  auto allowed = allowed_part(machine, name_of_host(machine));
  if (!allowed) return allowed;
  topology t = std::move(allowed).value();
  // hwloc shows another machine here when its environment variables say so.
  t.is_this_host_ = hwloc_topology_is_thissystem(machine) != 0;
  if (!t.is_this_host_) return t;
  auto const mask = platform::cpus_given();
  if (mask.empty()) return t;
  std::vector<int> both;
  std::copy_if(mask.begin(), mask.end(), std::back_inserter(both),
               [&](int cpu) { return t.position(cpu) >= 0; });
  if (both.empty())
    return error{"the affinity mask of this program, cpus " + base::cpu_list(mask) +
                 ", holds none of the allowed cpus " + base::cpu_list(t.cpus_)};
  return t.restricted_to(both);
}

result<topology> topology::from_synthetic(std::string_view description) {
  auto const source = "synthetic \"" + printable(description) + '"';
  constexpr unsigned long max_cpus = 16384;  // hwloc takes minutes for 100,000
  if (asks_for_more_cpus(description, max_cpus)) return error{source + " has more than 16384 cpus"};
  auto const machine = empty_machine();
  auto const text = std::string(description);
  if (!machine || text.find('\0') != std::string::npos ||
      hwloc_topology_set_synthetic(machine.get(), text.c_str()) != 0 ||
      hwloc_topology_load(machine.get()) != 0)
    return error{source + " is not a machine; an example is \"pack:2 numa:1 core:4 pu:2\""};
  return allowed_part(machine.get(), source);
}

result<topology> topology::from_xml(std::string const& path) {
  std::filesystem::path const file(path);
  auto text = contents_of(file);
  if (!text) return text.to_error();
  auto const odd = [&] {
    return error{printable(file.string()) + " is not a topology that hwloc can read"};
  };
  // Of 2,000 files with a few wrong bytes each, six crash hwloc 2.9.
  empty_machine();  // loads hwloc's plugins, whose memory does not count
  platform::ChildLimits const limits{.memory_bytes = (std::uint64_t{48} << 20) + 8 * text->size(),
                                     .answer_bytes = largest_xml,
                                     .answer_time = std::chrono::seconds(60)};
  auto const name = printable(file.filename().string());
  auto safe = platform::do_apart([&] { return rewritten(*text, name); }, limits);
  if (!safe) return error{"cannot read " + printable(file.string()) + ": " + safe.message()};
  if (!*safe || (*safe)->empty())
    return error{printable(file.string()) +
                 ": reading it took too much memory or time, or crashed"};
  if ((*safe)->front() == refusal) return odd();
  *text = std::move(**safe);
  bool const is_fault = text->front() == fault_follows;
  text->erase(0, 1);
  if (is_fault) return error{printable(*text)};
  auto const machine = loaded(*text);
  return machine ? allowed_part(machine.get(), name) : odd();
}

// Never destroyed: destructors of static objects may use it. Threads that come first at the same
// time all make one: if they waited for each other, a child of fork() made meanwhile would wait for
// ever.
topology const& this_host() {
  static constinit base::Published<topology const> host;
  if (auto const* const known = host.get()) return *known;
  auto made = std::make_unique<topology const>(topology::live().value());
  topology const* known = nullptr;
  return host.replace(known, made.get()) ? *made.release() : *known;
}

}  // namespace nigh
