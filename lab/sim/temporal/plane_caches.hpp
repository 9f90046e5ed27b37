// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of a grid's planes that the caches have, both copies of each.
//
// A cache is an L3 and the L2s of its cores. It has those planes that its cores were the last to
// write, or what is left of them: it replaces at random, so that a line outlives so many bytes come
// in behind it with the chance exp(-bytes / size).

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nigh::sim {

class PlaneCaches {
 public:
  // bytes: of each cache; 0: it keeps nothing.
  PlaneCaches(std::size_t planes, std::vector<double> bytes)
      : bytes_(std::move(bytes)), came_in_(bytes_.size(), 0), planes_(planes) {}

  // The share of a plane that is there.
  double held(int cache, std::int64_t plane) const noexcept {
    auto const& p = planes_[static_cast<std::size_t>(plane)];
    auto const c = static_cast<std::size_t>(cache);
    return p.cache == cache && bytes_[c] > 0 ? std::exp((p.then - came_in_[c]) / bytes_[c]) : 0;
  }
  void write(int cache, std::int64_t plane) noexcept {
    planes_[static_cast<std::size_t>(plane)] = {cache, came_in_[static_cast<std::size_t>(cache)]};
  }
  void bring_in(int cache, double bytes) noexcept {
    came_in_[static_cast<std::size_t>(cache)] += bytes;
  }

 private:
  struct Plane {
    int cache = -1;   // whose cores were the last to write it; -1: nobody was
    double then = 0;  // came_in_, when they began
  };

  std::vector<double> bytes_, came_in_;  // [cache]
  std::vector<Plane> planes_;
};

}  // namespace nigh::sim
