// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/space.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>

#include "policy/cpus/thread_count.hpp"
#include "policy/cpus/thread_order.hpp"

namespace nigh::cli {
namespace {

// A program's own loops cannot hide from this.
constexpr std::array<std::string_view, 9> system_libraries{
    "libc.so",     "libm.so",      "libpthread.so",  "libdl.so",      "librt.so",
    "libgcc_s.so", "libstdc++.so", "libgfortran.so", "libquadmath.so"};
constexpr std::array<std::string_view, 3> openmp_runtimes{"libgomp.so", "libomp.so", "libiomp5.so"};

bool starts_with_any(std::string const& name, auto const& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// One for each core, each cpu, each place that is named, and the powers of two below; the most first, as
// programs do by themselves.
std::vector<int> usual_threads(topology const& machine, std::optional<double> quota,
                               std::vector<Binding> const& binds, Space& space) {
  auto const cpus = static_cast<int>(machine.cpus().size());
  int const most = policy::cpus_within(quota, cpus);
  if (most < cpus)
    space.notes.push_back("the cgroup's quota has time for " + std::to_string(most) +
                          (most == 1 ? " thread" : " threads") + ": more are left out");
  std::vector<int> threads{most, std::min(most, machine.cores())};
  for (int n = 1; n < std::min(most, machine.cores()); n *= 2) threads.push_back(n);
  for (auto const& bind : binds)
    if (!bind.places.empty()) threads.push_back(std::min(most, static_cast<int>(bind.places.size())));
  std::sort(threads.begin(), threads.end(), std::greater<>());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

template <class T, class Parse>
std::vector<T> parsed(std::initializer_list<std::string_view> words, Parse parse) {
  std::vector<T> values;
  for (auto const word : words) values.push_back(parse(word).value());
  return values;
}

std::vector<Binding> usual_binds(topology const& machine, Space& space) {
  if (policy::thread_order(machine, cpu_order::compact) ==
      policy::thread_order(machine, cpu_order::scatter)) {
    space.notes.emplace_back("compact and scatter are the same here: only compact is tried");
    return parsed<Binding>({"compact"}, parse_binding);
  }
  return parsed<Binding>({"compact", "scatter"}, parse_binding);
}

std::vector<MemoryChoice> usual_memories(topology const& machine, Space& space) {
  auto const with_both =
      std::count_if(machine.domains().begin(), machine.domains().end(),
                    [](domain const& d) { return d.os_node >= 0 && !d.cpus.empty(); });
  if (with_both < 2) {
    space.notes.emplace_back("one domain: memory policies cannot matter and are left out");
    return {};
  }
  return parsed<MemoryChoice>({"interleave"}, parse_memory);
}

std::vector<LoopChoice> usual_schedules(Hears schedules, Space& space) {
  if (schedules == Hears::nothing) {
    space.notes.emplace_back(
        "the program has no loops that leave their schedule open: schedules are left out");
    return {};
  }
  auto usual = parsed<LoopChoice>({"static", "dynamic", "dynamic,16", "guided"}, parse_loops);
  if (schedules == Hears::all)
    for (auto const& more : parsed<LoopChoice>({"adaptive", "local"}, parse_loops))
      usual.push_back(more);
  return usual;
}

}  // namespace

Hears hears(platform::ElfFacts const& program) {
  auto const needs = [&](std::string_view library) {
    return std::any_of(program.needed.begin(), program.needed.end(),
                       [&](std::string const& name) { return name.starts_with(library); });
  };
  if (needs("libnigh.so")) return Hears::all;
  if (!program.is_dynamic) return Hears::all;  // its parts are unknown
  bool is_linked_to_openmp = false;
  for (auto const& library : program.needed) {
    bool const is_runtime = starts_with_any(library, openmp_runtimes);
    if (!is_runtime && !starts_with_any(library, system_libraries)) return Hears::all;
    is_linked_to_openmp = is_linked_to_openmp || is_runtime;
  }
  if (!is_linked_to_openmp) return Hears::all;  // a shell or launcher may start others
  // The functions that g++ calls for schedule(runtime), and clang for all schedules except static.
  for (auto const& name : program.imports)
    if ((name.starts_with("GOMP_") && name.find("runtime") != name.npos) ||
        name.starts_with("__kmpc_dispatch_init") || name.starts_with("omp_get_schedule"))
      return Hears::openmp;
  return Hears::nothing;
}

result<Space> space_of(topology const& machine, Choices const& choices, Hears schedules,
                       Inherited const& inherited, std::optional<double> quota) {
  Space space;
  space.requests.emplace_back();
  space.candidates.push_back({0, 0, 0, 0});
  auto const threads =
      choices.threads.empty() ? usual_threads(machine, quota, choices.binds, space) : choices.threads;
  auto const binds = choices.binds.empty() ? usual_binds(machine, space) : choices.binds;
  auto const memories =
      choices.memories.empty() ? usual_memories(machine, space) : choices.memories;
  auto const loops =
      choices.schedules.empty() ? usual_schedules(schedules, space) : choices.schedules;

  // Unless values were requested, leaving memory or schedule alone is one of them.
  std::vector<std::optional<MemoryChoice>> memory_values(memories.begin(), memories.end());
  if (choices.memories.empty()) memory_values.insert(memory_values.begin(), std::nullopt);
  std::vector<std::optional<LoopChoice>> loop_values(loops.begin(), loops.end());
  if (choices.schedules.empty()) loop_values.insert(loop_values.begin(), std::nullopt);

  // Configurations with the same settings are the same.
  std::vector<Plan> plans{Plan{}};
  for (std::size_t t = 0; t < threads.size(); ++t)
    for (std::size_t b = 0; b < binds.size(); ++b)
      for (std::size_t m = 0; m < memory_values.size(); ++m)
        for (std::size_t s = 0; s < loop_values.size(); ++s) {
          Request const request{threads[t], binds[b], memory_values[m], loop_values[s]};
          // Nobody has asked for so many threads on these places.
          bool const has_places = binds[b].places.empty() ||
                                  static_cast<std::size_t>(threads[t]) <= binds[b].places.size();
          if (choices.threads.empty() && !has_places) continue;
          auto plan = make_plan(machine, request, inherited);
          if (!plan) return plan.to_error();
          if (std::find(plans.begin(), plans.end(), *plan) != plans.end()) continue;
          plans.push_back(std::move(plan).value());
          space.requests.push_back(request);
          auto const index = [](std::size_t i, bool has_none) {
            return static_cast<int>(i) + (has_none ? 0 : 1);
          };
          space.candidates.push_back({static_cast<int>(t) + 1, static_cast<int>(b) + 1,
                                      index(m, choices.memories.empty()),
                                      index(s, choices.schedules.empty())});
        }
  return space;
}

std::string name_of(Space const& space, int candidate) {
  auto const i = static_cast<std::size_t>(candidate);
  if (space.ranks.empty())
    return space.requests[i] == Request{} ? "(as it is)" : to_string(space.requests[i]);
  auto const& ranks = space.ranks[i];
  if (!ranks.order) return '(' + space.as_it_is + ')';
  auto const cores = std::to_string(ranks.cores_off) + (ranks.cores_off == 1 ? " core" : " cores");
  return "--ranks " + std::to_string(ranks.per_host) + " --bind-ranks " +
         to_string(Binding{*ranks.order}) + (ranks.smt ? " --smt " : " ") +
         to_string(space.requests[i]) + (ranks.cores_off > 0 ? ", " + cores + " off" : "");
}

}  // namespace nigh::cli
