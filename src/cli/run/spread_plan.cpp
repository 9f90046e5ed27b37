// SPDX-License-Identifier: Apache-2.0
#include "cli/run/spread_plan.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "loops/spread_file.hpp"
#include "settings/cpu_order_text.hpp"

namespace nigh::cli {

result<void> plan_spread(topology const& machine, spread how, bool is_bound_by_option,
                         Inherited const& inherited, Plan& plan) {
  if (!is_bound_by_option)
    if (auto const name = binding_in(inherited))
      return error{"--spread: " + *name + " binds threads already"};
  constexpr std::array<std::string_view, 3> of_places{"OMP_PLACES", "OMP_PROC_BIND", "NIGH_PLACES"};
  for (auto const name : of_places) {
    auto const sets = [&](std::string const& v) { return v.starts_with(std::string(name) + '='); };
    std::erase_if(plan.variables, sets);
    if (inherited(name)) plan.removed.emplace_back(name);
  }
  plan.places.clear();
  plan.spread = to_string(how);
  plan.variables.push_back("NIGH_OPENMP_SPREAD=" + plan.spread);
  plan.variables.push_back(
      "NIGH_OPENMP_CPU_ORDER=" +
      settings::cpu_order_text(policy::OrderedWorkers(machine, machine.cpus()), machine.cpus()));
  plan.variables.push_back("NIGH_OPENMP_MACHINE=" + loops::shape_of(machine));
  if (plan.coordinator.empty() && !has_said_how_to_wait(inherited))
    plan.variables.emplace_back("KMP_BLOCKTIME=1");
  // Otherwise libomp would keep only the threads of outermost regions, and make the others anew.
  constexpr std::array<std::string_view, 2> hot_teams{"KMP_HOT_TEAMS_MAX_LEVEL=2",
                                                      "KMP_HOT_TEAMS_MODE=1"};
  for (auto const v : hot_teams)
    if (!inherited(v.substr(0, v.find('=')))) plan.variables.emplace_back(v);
  return {};
}

result<std::string> spreads_variable(std::string const& file) {
  std::error_code failed;
  auto const path = std::filesystem::absolute(file, failed);
  bool const is_other = std::filesystem::exists(path, failed) &&
                        !std::filesystem::is_regular_file(path, failed);
  if (file.empty() || failed || is_other)
    return error{"--spreads: \"" + file + "\" is no regular file"};
  if (!std::filesystem::is_directory(path.parent_path(), failed))
    return error{"--spreads: there is no folder " + path.parent_path().string()};
  return "NIGH_SPREADS=" + path.string();
}

}  // namespace nigh::cli
