// SPDX-License-Identifier: Apache-2.0
#include "sim/team.hpp"

#include <algorithm>

namespace nigh::sim {

Team::Team(topology const& machine, std::vector<int> const& cpus_, policy::LayoutRules rules)
    : layout(machine, cpus_, rules) {
  auto const& known = machine.cpus();
  for (int const cpu : cpus_)
    cpus.push_back(static_cast<int>(std::find(known.begin(), known.end(), cpu) - known.begin()));
}

}  // namespace nigh::sim
