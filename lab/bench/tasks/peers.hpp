// SPDX-License-Identifier: Apache-2.0
#pragma once
// Empty tasks under each runtime: a peer is one function that spawns and runs so many of them.

#include <functional>
#include <nigh/topology.hpp>
#include <string>
#include <vector>

namespace bench {

struct Peer {
  std::string name;
  std::function<void(long tasks)> run;  // returns when all have run; null: absent
  std::string why_absent;
};

// Each on these cpus, and asleep between calls. The lists may be used as long as they live.
std::vector<Peer> nigh_peers(nigh::topology const& machine, std::vector<int> const& cpus);
std::vector<Peer> openmp_peers(nigh::topology const& machine, std::vector<int> const& cpus);
std::vector<Peer> tbb_peers(nigh::topology const& machine, std::vector<int> const& cpus);

}  // namespace bench
