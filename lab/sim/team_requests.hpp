// SPDX-License-Identifier: Apache-2.0
#pragma once
// Semi-random requests for teams, as the paper on topology-aware OpenMP process scheduling has
// them: a few programs, each with a leader on some free cpu, enter and leave parallel regions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "policy/cpus/core_allocation.hpp"
#include "sim/random.hpp"

namespace nigh::sim {

struct TeamSums {
  long long requests = 0;
  long long missed = 0;  // |threads - N|
  long long wanted = 0;
  long long links = 0;  // pairs of threads with consecutive numbers
  double local = 0;
  double total = 0;
  double weighted = 0;

  double per_request(double sum) const { return sum / static_cast<double>(requests); }
  double local_per_link() const { return local / static_cast<double>(links); }
  double miss_rate() const { return static_cast<double>(missed) / static_cast<double>(wanted); }
};

// Ignores where cpus are: as many as `simple` takes, but the others than the leader's at random.
inline policy::CoreDecision scattered(policy::CoreMap const& map, policy::PositionSet const& free,
                                      policy::CoreRequest const& request, Random& random) {
  auto decision = policy::decide(map, {.how = policy::CoreAllocation::simple}, free, request);
  std::vector<int> others;
  for (int p = 0; p < map.size(); ++p)
    if (free.has(p) && p != request.place) others.push_back(p);
  for (std::size_t i = 1; i < decision.positions.size(); ++i) {
    std::swap(
        others[i - 1],
        others[i - 1 +
               static_cast<std::size_t>(random.below(static_cast<int>(others.size() - (i - 1))))]);
    decision.positions[i] = others[i - 1];
  }
  return decision;
}

// Programs hold their leaders' cpus for life, and those of the others for a region; there are
// fewer of them than cpus.
template <class Decide>  // (free, request) -> CoreDecision
TeamSums play_requests(policy::CoreMap const& map, int programs, int requests, std::uint64_t seed,
                       Decide decide) {
  NIGH_ASSERT(programs > 0 && programs < map.size(), "a leader finds a free cpu, and more");
  Random random(seed);
  struct Program {
    int place = -1;
    int regions = 0;
    double next = 0;  // when it enters or leaves a region
    std::vector<int> team;
  };
  std::vector<Program> all(static_cast<std::size_t>(programs));
  auto free = policy::PositionSet::all(map.size());
  TeamSums sums;
  auto const begin = [&](Program& p) {
    int nth = random.below(free.count());
    p.place = free.next(0, map.size());
    while (nth-- > 0) p.place = free.next(p.place + 1, map.size());
    free.remove(p.place);
    p.regions = 1 + random.below(40);
  };
  for (auto& p : all) begin(p);
  while (sums.requests < requests) {
    auto& p = *std::min_element(all.begin(), all.end(),
                                [](Program const& a, Program const& b) { return a.next < b.next; });
    if (!p.team.empty()) {
      for (int c : p.team)
        if (c != p.place) free.add(c);
      p.team.clear();
      p.next += random.exponential(0.5);
      if (--p.regions > 0) continue;
      free.add(p.place);
      begin(p);
      continue;
    }
    int const maximum = 2 << random.below(4);
    policy::ThreadDemand const demand{maximum, random.below(2) == 0 ? maximum : maximum / 2};
    free.add(p.place);
    auto decision = decide(free, policy::CoreRequest{demand, p.place});
    p.team = std::move(decision.positions);
    free.remove(p.place);
    for (int c : p.team)
      if (c != p.place) free.remove(c);
    p.next += random.exponential(1);
    ++sums.requests;
    auto const n = static_cast<int>(p.team.size());
    auto const distance = policy::team_distance(map, p.team);
    sums.missed += std::abs(n - decision.wanted);
    sums.wanted += decision.wanted;
    sums.links += n - 1;
    sums.local += distance.local;
    sums.total += distance.total;
    sums.weighted += distance.weighted;
  }
  return sums;
}

}  // namespace nigh::sim
