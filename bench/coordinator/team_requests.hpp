// SPDX-License-Identifier: Apache-2.0
#pragma once
// Semi-random requests for teams, as the paper on topology-aware OpenMP process scheduling has
// them: a few programs, each with a master on some free cpu, enter and leave parallel regions.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "policy/core_allocation.hpp"

namespace bench {

namespace policy = nigh::policy;

// Eight sockets of four cores; the links are a Sun X4600's as far as known.
inline policy::CoreMap sun_x4600() {
  policy::CoreMap::Parts parts;
  for (int c = 0; c < 32; ++c) parts.cpus.push_back(c);
  parts.levels = {std::vector<int>(8, 4)};
  parts.within = {1};
  constexpr int links[][2] = {{0, 1}, {0, 2}, {1, 3}, {1, 6}, {2, 4}, {2, 5},
                              {3, 4}, {3, 5}, {4, 6}, {5, 7}, {6, 7}};
  parts.between.assign(8, std::vector<double>(8, 1000));
  auto const at = [&](int a, int b) -> double& {
    return parts.between[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  };
  for (int s = 0; s < 8; ++s) at(s, s) = 0;
  for (auto const& l : links) at(l[0], l[1]) = at(l[1], l[0]) = 10;
  for (int via = 0; via < 8; ++via)
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b) at(a, b) = std::min(at(a, b), at(a, via) + at(via, b));
  return policy::CoreMap(std::move(parts));
}

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

// Ignores where cpus are: as many as `simple` takes, but the others than the master's at random.
inline policy::CoreDecision scattered(policy::CoreMap const& map, policy::PositionSet const& free,
                                      policy::CoreRequest const& request, std::mt19937_64& random) {
  auto decision = policy::decide(map, {.how = policy::CoreAllocation::simple}, free, request);
  std::vector<int> others;
  for (int p = 0; p < map.size(); ++p)
    if (free.has(p) && p != request.place) others.push_back(p);
  for (std::size_t i = 1; i < decision.positions.size(); ++i) {
    std::swap(others[i - 1], others[i - 1 + random() % (others.size() - (i - 1))]);
    decision.positions[i] = others[i - 1];
  }
  return decision;
}

// Programs hold their masters' cpus for life, and those of the others for a region. Distributions
// are written out, for the standard library's differ from one to the next.
template <class Decide>  // (free, request) -> CoreDecision
TeamSums play_requests(policy::CoreMap const& map, int programs, int requests, std::uint64_t seed,
                       Decide decide) {
  std::mt19937_64 random(seed);
  auto const uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  auto const below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  auto const exponential = [&](double mean) { return -mean * std::log1p(-uniform()); };
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
    int nth = below(free.count());
    p.place = free.next(0, map.size());
    while (nth-- > 0) p.place = free.next(p.place + 1, map.size());
    free.remove(p.place);
    p.regions = 1 + below(40);
  };
  for (auto& p : all) begin(p);
  while (sums.requests < requests) {
    auto& p = *std::min_element(all.begin(), all.end(),
                                [](Program const& a, Program const& b) { return a.next < b.next; });
    if (!p.team.empty()) {
      for (int c : p.team)
        if (c != p.place) free.add(c);
      p.team.clear();
      p.next += exponential(0.5);
      if (--p.regions > 0) continue;
      free.add(p.place);
      begin(p);
      continue;
    }
    int const maximum = 2 << below(4);
    policy::ThreadDemand const demand{maximum, below(2) == 0 ? maximum : maximum / 2};
    free.add(p.place);
    auto decision = decide(free, policy::CoreRequest{demand, p.place});
    p.team = std::move(decision.positions);
    free.remove(p.place);
    for (int c : p.team)
      if (c != p.place) free.remove(c);
    p.next += exponential(1);
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

}  // namespace bench
