// SPDX-License-Identifier: Apache-2.0
// The properties of flows at any time, in networks larger than a brute-force solver can do, while
// flows begin and end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "sim/fluid.hpp"
#include "sim/random.hpp"

namespace nigh::sim {
namespace {

constexpr double rounding = 1e-9;

struct Flow {
  std::vector<Use> uses;
  double cap = no_cap, volume = 0;
  double moved = 0;  // by the rates that were told
};

// A network of 40 resources on which flows come and go, and what is known of them.
class ComingAndGoing {
 public:
  ComingAndGoing(std::uint64_t seed, bool is_crowded) : random_(seed) {
    for (int r = 0; r < resources; ++r)
      network_.add({0.5 + 4 * random_.uniform(), is_crowded ? 0.1 * random_.uniform() : 0,
                    random_.below(3)});
    for (int f = 0; f < 60; ++f) begin();
  }

  template <class Check>
  void run(int endings, Check check) {
    while (auto const ending = network_.next_ending(now_)) {
      check(*this);
      double const s = seconds(ending->at - now_);
      for (auto& [id, flow] : flows_) flow.moved += s * network_.rate(now_, id);
      now_ = ending->at;
      double const left = network_.stop(now_, ending->flow);
      auto const gone = flows_.find(ending->flow);
      ASSERT_NE(gone, flows_.end()) << "each flow ends once";
      EXPECT_NEAR(left, 0, 1e-6);
      EXPECT_NEAR(gone->second.moved, gone->second.volume, 1e-6) << "no work is lost or made";
      flows_.erase(gone);
      for (int i = random_.below(3); endings > 0 && i > 0; --i) begin();
      --endings;
    }
    EXPECT_TRUE(flows_.empty());
  }

  FluidNetwork& network() { return network_; }
  Time now() const { return now_; }
  std::map<FlowId, Flow> const& flows() const { return flows_; }

  static constexpr int resources = 40;

  int users(ResourceId r) const {
    int n = 0;
    for (auto const& [id, flow] : flows_)
      n += std::any_of(flow.uses.begin(), flow.uses.end(),
                       [&](Use const& u) { return u.resource == r; });
    return n;
  }
  double capacity(ResourceId r) const { return network_.resource(r).capacity_for(users(r)); }

 private:
  void begin() {
    Flow flow;
    for (int i = random_.below(5); i > 0; --i) {
      auto const r = static_cast<ResourceId>(random_.below(resources));
      if (std::none_of(flow.uses.begin(), flow.uses.end(),
                       [&](Use const& u) { return u.resource == r; }))
        flow.uses.push_back({r, random_.below(2) == 0 ? 1 : 0.2 + random_.uniform()});
    }
    if (flow.uses.empty() || random_.below(3) == 0) flow.cap = 0.05 + random_.uniform();
    flow.volume = 0.1 + random_.uniform();
    auto const id = network_.start(now_, flow.volume, flow.uses, flow.cap);
    flows_.emplace(id, flow);
  }

  FluidNetwork network_;
  Random random_;
  Time now_ = 0;
  std::map<FlowId, Flow> flows_;
};

class FluidProperties : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Crowded, FluidProperties, ::testing::Bool());

TEST_P(FluidProperties, NoResourceGivesMoreThanItHas) {
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    ComingAndGoing(seed, GetParam()).run(200, [](ComingAndGoing& all) {
      for (ResourceId r = 0; r < ComingAndGoing::resources; ++r)
        ASSERT_LE(all.network().used(all.now(), r), all.capacity(r) * (1 + rounding));
    });
}

// A flow is at its cap, or uses something that is full and where nobody is faster: then nobody can
// have more but from somebody who has less. This is what max-min fair means.
TEST_P(FluidProperties, EachFlowHasABottleneck) {
  for (std::uint64_t seed = 10; seed < 15; ++seed)
    ComingAndGoing(seed, GetParam()).run(200, [](ComingAndGoing& all) {
      auto& network = all.network();
      std::vector<double> fastest(ComingAndGoing::resources, 0);
      for (auto const& [id, flow] : all.flows())
        for (Use const& u : flow.uses)
          fastest[u.resource] = std::max(fastest[u.resource], network.rate(all.now(), id));
      for (auto const& [id, flow] : all.flows()) {
        double const rate = network.rate(all.now(), id);
        ASSERT_LE(rate, flow.cap * (1 + rounding));
        bool const is_bound = rate >= flow.cap * (1 - rounding) ||
                              std::any_of(flow.uses.begin(), flow.uses.end(), [&](Use const& u) {
                                return network.used(all.now(), u.resource) >=
                                           all.capacity(u.resource) * (1 - rounding) &&
                                       rate >= fastest[u.resource] * (1 - rounding);
                              });
        ASSERT_TRUE(is_bound);
      }
    });
}

// Checked by run() as well; here also between endings.
TEST_P(FluidProperties, WhatIsLeftIsWhatWasNotMoved) {
  for (std::uint64_t seed = 20; seed < 25; ++seed)
    ComingAndGoing(seed, GetParam()).run(200, [](ComingAndGoing& all) {
      for (auto const& [id, flow] : all.flows())
        ASSERT_NEAR(all.network().left(all.now(), id), flow.volume - flow.moved, 1e-6);
    });
}

TEST(Fluid, WhatIsLeftCanBeAskedForAnyTime) {
  FluidNetwork network;
  auto const core = network.add({2, 0, 0});
  Use const use{core, 1};
  auto const first = network.start(0, 10, {&use, 1});
  EXPECT_DOUBLE_EQ(network.left(0, first), 10);
  EXPECT_DOUBLE_EQ(network.left(1'000'000'000, first), 8);
  auto const second = network.start(2'000'000'000, 10, {&use, 1});
  EXPECT_DOUBLE_EQ(network.left(2'000'000'000, first), 6);
  EXPECT_DOUBLE_EQ(network.left(2'000'000'000, second), 10);
  EXPECT_DOUBLE_EQ(network.left(3'000'000'000, first), 5);
  network.stop(3'000'000'000, first);
  EXPECT_DOUBLE_EQ(network.left(4'000'000'000, second), 7);
}

}  // namespace
}  // namespace nigh::sim
