// SPDX-License-Identifier: Apache-2.0
// The fluid solver beside SimGrid's: the same flows over the same links end at the same times.
// Built where libsimgrid-dev is installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "sim/fluid.hpp"
#include "sim/random.hpp"

namespace nigh::sim {
namespace {

namespace s4u = simgrid::s4u;

struct Flow {
  std::vector<ResourceId> links;
  double volume = 0, cap = no_cap;
  Time begins = 0;
  double ended_s = 0;
};

// Flows over some links each; begins are spread over the first second.
struct Case {
  std::vector<double> bandwidths;
  std::vector<Flow> flows;
};

Case random_case(std::uint64_t seed, int links, int flows) {
  Random random(seed);
  Case c;
  for (int l = 0; l < links; ++l) c.bandwidths.push_back(1e9 * (1 + 4 * random.uniform()));
  for (int f = 0; f < flows; ++f) {
    Flow flow;
    for (int l = 0; l < links; ++l)
      if (random.below(3) == 0) flow.links.push_back(static_cast<ResourceId>(l));
    if (flow.links.empty()) flow.links.push_back(0);
    flow.volume = 1e9 * (0.2 + random.uniform());
    if (random.below(3) == 0) flow.cap = 1e9 * (0.1 + random.uniform());
    flow.begins = random.below(1'000'000'000);
    c.flows.push_back(flow);
  }
  return c;
}

// The square of the modelled Opteron: controllers as links, each flow from a controller over links.
Case square(int home) {
  Case c{{3.85e9, 3.85e9, 3.85e9, 3.85e9, 4e9, 4e9, 4e9}, {}};
  for (int thread = 0; thread < 8; ++thread) {
    int const here = thread / 2;
    Flow flow;
    flow.links.push_back(static_cast<ResourceId>(home));
    if (here != home) flow.links.push_back(static_cast<ResourceId>(3 + (here == 0 ? home : here)));
    flow.volume = 1.44e6 * (1 + thread);
    flow.cap = here == home ? 4e9 : 4e9 / 2.9;
    c.flows.push_back(flow);
  }
  return c;
}

void run_here(Case& c) {
  FluidNetwork network;
  for (double const b : c.bandwidths) network.add({b, 0, 0});
  std::map<FlowId, Flow*> running;
  std::vector<Flow*> waiting;
  for (Flow& f : c.flows) waiting.push_back(&f);
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](Flow* a, Flow* b) { return a->begins > b->begins; });
  for (Time now = 0; !waiting.empty() || !running.empty();) {
    auto const ending = network.next_ending(now);
    if (!waiting.empty() && (!ending || waiting.back()->begins < ending->at)) {
      Flow& f = *waiting.back();
      waiting.pop_back();
      std::vector<Use> uses;
      for (auto const l : f.links) uses.push_back({l, 1});
      now = f.begins;
      running.emplace(network.start(now, f.volume, uses, f.cap), &f);
    } else {
      now = ending->at;
      network.stop(now, ending->flow);
      running.at(ending->flow)->ended_s = seconds(now);
      running.erase(ending->flow);
    }
  }
}

// All cases at once, for SimGrid has one engine in a process; they share nothing.
void run_in_simgrid(std::vector<Case>& cases) {
  int count = 1;
  char name[] = "simgrid";
  char* arguments[] = {name, nullptr};
  s4u::Engine engine(&count, arguments);
  for (char const* setting :
       {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0"})
    s4u::Engine::set_config(setting);
  auto* const zone = s4u::create_full_zone("all");
  for (std::size_t c = 0; c < cases.size(); ++c) {
    auto const prefix = "case" + std::to_string(c) + '-';
    std::vector<s4u::Link const*> links;
    for (std::size_t l = 0; l < cases[c].bandwidths.size(); ++l)
      links.push_back(zone->create_link(prefix + "link" + std::to_string(l), cases[c].bandwidths[l])
                          ->set_latency(0)
                          ->seal());
    for (std::size_t f = 0; f < cases[c].flows.size(); ++f) {
      Flow& flow = cases[c].flows[f];
      auto* const from = zone->create_host(prefix + "from" + std::to_string(f), 1e9)->seal();
      auto* const to = zone->create_host(prefix + "to" + std::to_string(f), 1e9)->seal();
      std::vector<s4u::LinkInRoute> way;
      for (auto const l : flow.links) way.emplace_back(links[l]);
      if (flow.cap < no_cap)  // as a link of its own
        way.emplace_back(zone->create_link(prefix + "cap" + std::to_string(f), flow.cap)
                             ->set_latency(0)
                             ->seal());
      zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, way, false);
      s4u::Actor::create(prefix + "flow" + std::to_string(f), from, [&flow, from, to] {
        s4u::this_actor::sleep_until(seconds(flow.begins));
        s4u::Comm::sendto(from, to, static_cast<std::uint64_t>(flow.volume));
        flow.ended_s = s4u::Engine::get_clock();
      });
    }
  }
  zone->seal();
  engine.run();
}

TEST(SimGrid, EndsFlowsWhenNighDoes) {
  std::vector<Case> ours;
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    ours.push_back(random_case(seed, 1 + static_cast<int>(seed) / 2, 4 + static_cast<int>(seed)));
  for (int home = 0; home < 4; ++home) ours.push_back(square(home));
  auto theirs = ours;
  for (Case& c : ours) run_here(c);
  run_in_simgrid(theirs);
  for (std::size_t c = 0; c < ours.size(); ++c)
    for (std::size_t f = 0; f < ours[c].flows.size(); ++f)
      EXPECT_NEAR(ours[c].flows[f].ended_s / theirs[c].flows[f].ended_s, 1, 1e-5)
          << "case " << c << ", flow " << f;
}

}  // namespace
}  // namespace nigh::sim
