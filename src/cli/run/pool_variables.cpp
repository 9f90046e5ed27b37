// SPDX-License-Identifier: Apache-2.0
#include "cli/run/pool_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/counted.hpp"
#include "policy/cpus/thread_count.hpp"
#include "settings/thread_pools.hpp"

namespace nigh::cli {
namespace {

constexpr std::string_view openmp = "OMP_NUM_THREADS";

// The table's pools with a variable, each variable once.
std::vector<PoolVariable> with_variables() {
  std::vector<PoolVariable> found;
  for (auto const& pool : settings::thread_pools) {
    auto const is_same = [&](auto const& other) { return other.name == pool.variable; };
    if (!pool.variable.empty() && std::ranges::none_of(found, is_same))
      found.push_back({pool.variable, pool.name, pool.hears_openmp});
  }
  return found;
}

std::optional<std::string> value_in(Plan const& plan, std::string_view name) {
  for (auto const& variable : plan.variables)
    if (variable.size() > name.size() && variable.starts_with(name) && variable[name.size()] == '=')
      return variable.substr(name.size() + 1);
  return std::nullopt;
}

// The largest of "8" or "4,2", as OpenMP writes it; 0: no such list.
int largest_in(std::string_view list) {
  int largest = 0;
  while (!list.empty()) {
    auto const part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    auto const threads = parse_threads(part);
    if (threads) largest = std::max(largest, *threads);
  }
  return largest;
}

}  // namespace

std::span<PoolVariable const> pool_variables() {
  static auto const all = with_variables();
  return all;
}

int QuotaHere::threads() const {
  int const all = policy::cpus_within(quota, cpus);
  return all < cpus ? std::max(1, all / std::max(1, ranks)) : cpus;
}

void keep_pools_within(QuotaHere const& here, Inherited const& inherited, Plan& plan) {
  if (!here.binds()) return;
  int const threads = here.threads();
  auto quota = *here.quota == 1
                   ? std::string("the cgroup's quota of one cpu's worth of time")
                   : fmt::format("the cgroup's quota of {:.3g} cpus' worth of time", *here.quota);
  if (here.ranks > 1) quota += fmt::format(", shared by {},", base::counted(here.ranks, "rank"));
  std::string set;
  bool const is_openmp_said = inherited(openmp) || value_in(plan, openmp);
  for (auto const& variable : pool_variables()) {
    auto const planned = value_in(plan, variable.name);
    auto const said = planned ? planned : inherited(variable.name);
    if (!said) {
      if (is_openmp_said && variable.hears_openmp) continue;
      plan.variables.push_back(fmt::format("{}={}", variable.name, threads));
      set += (set.empty() ? "" : ", ") + std::string(variable.pool);
    } else if (largest_in(*said) > threads) {
      plan.notes.push_back(fmt::format(
          "{}={} stays as {}, but {} has time for {} only: more stop for a part of each period",
          variable.name, *said, planned ? "asked for" : "it was set", quota,
          base::counted(threads, "thread")));
    }
  }
  if (!set.empty())
    plan.notes.push_back(
        fmt::format("{} has time for {}, not for one on each of {} cpus: set for {}", quota,
                    base::counted(threads, "thread"), here.cpus, set));
}

}  // namespace nigh::cli
