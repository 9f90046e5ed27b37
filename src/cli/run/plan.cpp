// SPDX-License-Identifier: Apache-2.0
#include "cli/run/plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>

#include "base/counted.hpp"
#include "base/cpu_list.hpp"
#include "policy/cpus/thread_count.hpp"
#include "policy/cpus/thread_order.hpp"

namespace nigh::cli {
namespace {

using PolicyKind = platform::MemoryPolicy::Kind;

// The variables by which users of OpenMP bind threads.
constexpr std::array<std::string_view, 4> binding_variables{"OMP_PLACES", "OMP_PROC_BIND",
                                                            "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
// Variables that would overrule places.
constexpr std::array<std::string_view, 2> rival_variables{"GOMP_CPU_AFFINITY", "KMP_AFFINITY"};

std::vector<Place> ordered_places(topology const& machine, cpu_order order) {
  std::vector<Place> places;
  for (int const cpu : policy::thread_order(machine, order)) places.push_back({cpu});
  return places;
}

result<void> check_places(topology const& machine, std::vector<Place> const& places) {
  std::set<int> seen;
  for (auto const& place : places)
    for (int const cpu : place) {
      if (machine.domain_of_cpu(cpu) < 0)
        return error{"--bind: cpu " + std::to_string(cpu) + " is not among the allowed cpus " +
                     base::cpu_list(machine.cpus())};
      if (!seen.insert(cpu).second)
        return error{"--bind: cpu " + std::to_string(cpu) + " is named twice"};
    }
  return {};
}

// The number of threads when the user gives none: OMP_NUM_THREADS, or one for each core, within the
// quota.
std::size_t usual_threads(topology const& machine, Inherited const& inherited,
                          std::optional<double> quota) {
  if (auto const set = inherited("OMP_NUM_THREADS")) {
    auto const threads = parse_threads(*set);
    if (threads && static_cast<std::size_t>(*threads) <= machine.cpus().size())
      return static_cast<std::size_t>(*threads);
  }
  return static_cast<std::size_t>(policy::cpus_within(quota, machine.cores()));
}

// OMP_NUM_THREADS as the user has set it: "8", or "8,2" for nested regions. Nothing if it is no
// such list.
std::optional<std::string> threads_of_openmp(Inherited const& inherited, std::size_t& outermost) {
  auto const set = inherited("OMP_NUM_THREADS");
  if (!set) return std::nullopt;
  auto const threads = parse_threads(set->substr(0, set->find(',')));
  if (!threads) return std::nullopt;
  outermost = static_cast<std::size_t>(*threads);
  return set;
}

result<void> plan_threads(topology const& machine, Request const& request,
                          Inherited const& inherited, std::optional<double> quota, Plan& plan) {
  auto const asked = static_cast<std::size_t>(request.threads);
  if (asked > machine.cpus().size())
    return error{"--threads " + std::to_string(asked) + ": only " +
                 base::counted(machine.cpus().size(), "cpu") +
                 (machine.cpus().size() == 1 ? " is" : " are") + " allowed (" +
                 base::cpu_list(machine.cpus()) + ')'};
  bool const bound_already =
      std::any_of(binding_variables.begin(), binding_variables.end(),
                  [&](std::string_view name) { return !inherited(name).value_or("").empty(); });
  if (!request.bind && bound_already) {
    auto const threads = std::to_string(asked);
    plan.variables = {"OMP_NUM_THREADS=" + threads, "NIGH_WORKERS=" + threads};
    plan.notes.emplace_back("the environment binds threads already, so only their number is set");
    return {};
  }
  auto const bind = request.bind.value_or(Binding{});
  bool const named = !bind.places.empty();
  plan.places = named ? bind.places : ordered_places(machine, bind.order);
  if (auto const good = check_places(machine, plan.places); !good) return good;
  if (asked > plan.places.size())
    return error{"--threads " + std::to_string(asked) + ": --bind names only " +
                 base::counted(plan.places.size(), "place")};
  std::size_t given = 0;
  auto kept = asked == 0 ? threads_of_openmp(inherited, given) : std::nullopt;
  if (kept && given <= plan.places.size()) kept.reset();  // each thread gets a place
  if (kept)
    plan.notes.push_back("OMP_NUM_THREADS=" + *kept + " is more than the " +
                         base::counted(plan.places.size(), "place") + " of --bind: threads share them");
  else if (asked > 0 || !named)
    plan.places.resize(asked > 0 ? asked : usual_threads(machine, inherited, quota));

  std::string firsts;
  for (auto const& place : plan.places) {
    firsts += (firsts.empty() ? "" : ",") + std::to_string(place.front());
    plan.cpus.insert(plan.cpus.end(), place.begin(), place.end());
  }
  std::sort(plan.cpus.begin(), plan.cpus.end());
  auto const threads = std::to_string(plan.places.size());
  auto const places = to_string(std::span<Place const>(plan.places));
  // Close is the one binding that all runtimes understand alike: thread k on place k.
  plan.variables = {"OMP_NUM_THREADS=" + kept.value_or(threads),
                    "OMP_PLACES=" + places,
                    "OMP_PROC_BIND=close",
                    "NIGH_WORKERS=" + threads,
                    "NIGH_CPUS=" + firsts,
                    "NIGH_PLACES=" + places};
  for (auto const rival : rival_variables)
    if (inherited(rival)) plan.removed.emplace_back(rival);
  return {};
}

result<void> plan_memory(topology const& machine, MemoryChoice const& choice, Plan& plan) {
  platform::MemoryPolicy policy{choice.kind};
  auto const& domains = machine.domains();
  for (int const d : choice.domains) {
    if (static_cast<std::size_t>(d) >= domains.size())
      return error{"--mem " + to_string(choice) + ": there is no domain " + std::to_string(d) +
                   "; this machine has " + base::counted(domains.size(), "domain") + ", from 0"};
    auto const node = domains[static_cast<std::size_t>(d)].os_node;
    if (node < 0)
      return error{"--mem " + to_string(choice) + ": domain " + std::to_string(d) +
                   " has no memory of its own"};
    policy.os_nodes.push_back(node);
  }
  if (choice.kind == PolicyKind::interleave && choice.domains.empty())
    for (auto const& d : domains)
      if (d.os_node >= 0 && !d.cpus.empty()) policy.os_nodes.push_back(d.os_node);
  if (choice.kind == PolicyKind::interleave && policy.os_nodes.empty())
    return error{"--mem interleave: no allowed domain has both cpus and memory; name domains"};
  std::sort(policy.os_nodes.begin(), policy.os_nodes.end());
  plan.memory = std::move(policy);
  return {};
}

void plan_loops(LoopChoice const& loops, Plan& plan) {
  plan.variables.push_back("NIGH_SCHEDULE=" + to_string(loops));
  if (openmp_has(loops))
    plan.variables.push_back("OMP_SCHEDULE=" + to_string(loops));
  else
    plan.notes.push_back("--schedule " + to_string(loops) +
                         ": OpenMP has none such; only nigh's loops hear it");
}

}  // namespace

result<Plan> make_plan(topology const& machine, Request const& request, Inherited const& inherited,
                       std::optional<double> quota) {
  Plan plan;
  if (request.threads > 0 || request.bind)
    if (auto const good = plan_threads(machine, request, inherited, quota, plan); !good)
      return good.to_error();
  if (request.memory)
    if (auto const good = plan_memory(machine, *request.memory, plan); !good)
      return good.to_error();
  if (request.schedule) plan_loops(*request.schedule, plan);
  return plan;
}

}  // namespace nigh::cli
