// SPDX-License-Identifier: Apache-2.0
#pragma once
// Domains and the links between them: how many hops apart two are, and which links their traffic
// takes. Where several shortest ways exist, each carries an equal part.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nigh::sim {

class LinkGraph {
 public:
  // Links go both ways: link l is directed link 2l from first to second, 2l + 1 back.
  LinkGraph(int domains, std::vector<std::pair<int, int>> links);

  int domains() const noexcept { return domains_; }
  int directed_links() const noexcept { return 2 * static_cast<int>(links_.size()); }
  std::vector<std::pair<int, int>> const& links() const noexcept { return links_; }
  int hops(int from, int to) const noexcept { return hops_[at(from, to)]; }  // -1: no way
  int diameter() const noexcept;

  struct Part {
    int link = 0;  // directed
    double share = 0;
  };
  std::vector<Part> const& route(int from, int to) const noexcept { return routes_[at(from, to)]; }

 private:
  std::size_t at(int from, int to) const noexcept {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(domains_) +
           static_cast<std::size_t>(to);
  }
  void measure_hops();
  std::vector<Part> route_of(int from, int to) const;

  int domains_;
  std::vector<std::pair<int, int>> links_;
  std::vector<int> hops_;
  std::vector<std::vector<Part>> routes_;
};

}  // namespace nigh::sim
