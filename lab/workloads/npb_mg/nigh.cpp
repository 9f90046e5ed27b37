// SPDX-License-Identifier: Apache-2.0
// nigh's loops over planes, under three of its schedules and under the one that NIGH_SCHEDULE
// names; and its task loops over groups of planes.
#include "npb_mg/nigh_runtime.hpp"
#include "npb_mg/one_caller.hpp"
#include "npb_mg/teams.hpp"

namespace npb_mg {

namespace {

template <auto schedule>
class Loops : public NighRuntime {
 public:
  explicit Loops(Team const& team) : NighRuntime(team, schedule()) {}
};

using Schedule = std::optional<nigh::schedule>;
Schedule blocks() { return nigh::static_schedule(); }
Schedule adaptive() { return nigh::adaptive_schedule(); }
Schedule local() { return nigh::local_schedule(); }
Schedule unnamed() { return std::nullopt; }

std::unique_ptr<Variant> make_automatic(Team const& team) {
  return std::make_unique<OnTeams>(team, nigh::spread::automatic, 0);
}

}  // namespace

void add_nigh(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/static", make_one_caller<Loops<blocks>>, {}});
  list.push_back({"nigh/adaptive", make_one_caller<Loops<adaptive>>, {}});
  list.push_back({"nigh/local", make_one_caller<Loops<local>>, {}});
  list.push_back({"nigh/runtime", make_one_caller<Loops<unnamed>>, {}});
  list.push_back({"nigh/auto", make_automatic, {}});
}

}  // namespace npb_mg
