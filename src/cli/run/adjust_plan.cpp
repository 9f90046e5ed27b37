// SPDX-License-Identifier: Apache-2.0
#include "cli/run/adjust_plan.hpp"

#include <string_view>

#include "settings/team_adjust.hpp"

namespace nigh::cli {

result<std::string> adjust_variable(std::string const& list) {
  std::string_view wrong;
  if (settings::read_adjust(list, wrong, [](settings::AdjustItem const&) {}))
    return "NIGH_ADJUST=" + list;
  return error{"'" + std::string(wrong) +
               "' is none of none, without-clause, all, nests, NAME, NAME=none, "
               "NAME=without-clause, NAME=all"};
}

std::string mistake_in_adjust(Inherited const& inherited) {
  auto const list = inherited("NIGH_ADJUST");
  if (!list || list->empty()) return "";
  auto const variable = adjust_variable(*list);
  return variable ? "" : "NIGH_ADJUST: " + variable.message() + "; nothing of it is heeded";
}

}  // namespace nigh::cli
