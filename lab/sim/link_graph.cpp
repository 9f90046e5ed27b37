// SPDX-License-Identifier: Apache-2.0
#include "sim/link_graph.hpp"

#include <algorithm>

namespace nigh::sim {

LinkGraph::LinkGraph(int domains, std::vector<std::pair<int, int>> links)
    : domains_(domains), links_(std::move(links)) {
  measure_hops();
  routes_.resize(hops_.size());
  for (int a = 0; a < domains_; ++a)
    for (int b = 0; b < domains_; ++b) routes_[at(a, b)] = route_of(a, b);
}

void LinkGraph::measure_hops() {
  auto const n = static_cast<std::size_t>(domains_);
  std::vector<std::vector<int>> neighbours(n);
  for (auto const& [a, b] : links_) {
    neighbours[static_cast<std::size_t>(a)].push_back(b);
    neighbours[static_cast<std::size_t>(b)].push_back(a);
  }
  hops_.assign(n * n, -1);
  for (int from = 0; from < domains_; ++from) {
    std::vector<int> reached{from};
    hops_[at(from, from)] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (int next : neighbours[static_cast<std::size_t>(reached[i])])
        if (hops_[at(from, next)] < 0) {
          hops_[at(from, next)] = hops_[at(from, reached[i])] + 1;
          reached.push_back(next);
        }
  }
}

int LinkGraph::diameter() const noexcept { return *std::max_element(hops_.begin(), hops_.end()); }

// A link's share is the part of the shortest ways that use it: ways up to its beginning times ways
// on from its end.
std::vector<LinkGraph::Part> LinkGraph::route_of(int from, int to) const {
  std::vector<Part> parts;
  int const length = hops(from, to);
  if (length <= 0) return parts;
  auto const ways_from = [&](int start) {  // number of shortest ways to each domain
    std::vector<double> ways(static_cast<std::size_t>(domains_), 0);
    ways[static_cast<std::size_t>(start)] = 1;
    for (int distance = 1; distance <= length; ++distance)
      for (auto const& link : links_)
        for (auto const& [a, b] : {link, std::pair{link.second, link.first}})
          if (hops(start, b) == distance && hops(start, a) == distance - 1)
            ways[static_cast<std::size_t>(b)] += ways[static_cast<std::size_t>(a)];
    return ways;
  };
  auto const there = ways_from(from), back = ways_from(to);
  double const all = there[static_cast<std::size_t>(to)];
  for (int l = 0; l < directed_links(); ++l) {
    auto [a, b] = links_[static_cast<std::size_t>(l / 2)];
    if (l % 2 == 1) std::swap(a, b);
    if (hops(from, a) < 0 || hops(from, a) + 1 + hops(b, to) != length) continue;
    parts.push_back(
        {l, there[static_cast<std::size_t>(a)] * back[static_cast<std::size_t>(b)] / all});
  }
  return parts;
}

}  // namespace nigh::sim
