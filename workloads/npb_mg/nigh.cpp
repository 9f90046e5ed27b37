// SPDX-License-Identifier: Apache-2.0
// nigh's loops over planes, under three of its schedules.
#include "npb_mg/nigh_runtime.hpp"
#include "npb_mg/one_caller.hpp"

namespace npb_mg {

namespace {

template <auto schedule>
class Loops : public NighRuntime {
 public:
  explicit Loops(Team const& team) : NighRuntime(team, schedule()) {}
};

nigh::schedule blocks() { return nigh::static_schedule(); }
nigh::schedule adaptive() { return nigh::adaptive_schedule(); }
nigh::schedule local() { return nigh::local_schedule(); }

}  // namespace

void add_nigh(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/static", make_one_caller<Loops<blocks>>, {}});
  list.push_back({"nigh/adaptive", make_one_caller<Loops<adaptive>>, {}});
  list.push_back({"nigh/local", make_one_caller<Loops<local>>, {}});
}

}  // namespace npb_mg
