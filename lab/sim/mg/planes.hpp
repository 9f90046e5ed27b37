// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the planes of MG's arrays lie, and which of them a last cache still holds.
//
// A plane has one home, or lies in parts in several domains. The worker that first writes it
// touches it first. A cache has it when the workers that share the cache have gone through no more
// bytes since one of them began with it than the cache holds: a worker that begins then finds each
// line that the other has just had. A plane that is used again in the same loop and found counts
// once. Writing takes a plane from all other caches.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "policy/cpus/core_map.hpp"
#include "sim/hosts/memory_system.hpp"

namespace nigh::sim::mg {

// NPB MG as loops over planes: which loops an iteration runs, and which planes a step of each reads
// and writes. Level k has 2^k points a side and a ghost layer around them.

enum class Array : std::uint8_t { u, v, r };
enum class Operator : std::uint8_t { zero, restriction, prolongation, residual, smoother };

struct Loop {
  Operator what = Operator::zero;
  int level = 0;           // the finer one, where two take part
  Array array = Array::u;  // of zero
  bool is_finest = false;  // the residual is that of v, else of r in place
};

// The use that a step makes of one plane.
struct PlaneUse {
  Array array = Array::u;
  int level = 0, plane = 0;
  bool reads = false, writes = false;
};

constexpr int side(int level) noexcept { return 1 << level; }

// Steps of a loop: interior planes; of two levels, the coarser one's; zero has the ghosts, too.
constexpr int steps(Loop const& loop) noexcept {
  switch (loop.what) {
    case Operator::zero:
      return side(loop.level) + 2;
    case Operator::restriction:
      return side(loop.level - 1);
    case Operator::prolongation:
      return side(loop.level - 1) + 1;
    case Operator::residual:
    case Operator::smoother:
      break;
  }
  return side(loop.level);
}

// Additions and multiplications of a step, for each point of a plane at the loop's level.
constexpr double operations(Operator what) noexcept {
  switch (what) {
    case Operator::zero:
      return 0;
    case Operator::restriction:
    case Operator::prolongation:
      return 24.0 / 4;  // 24 for each coarse point, of which a plane has a quarter
    case Operator::residual:
    case Operator::smoother:
      break;
  }
  return 19;
}

void plane_uses(Loop const& loop, int step, std::vector<PlaneUse>& uses);

// From the finest level on down and back up, and the residual behind it.
std::vector<Loop> iteration(int finest);
// The loops that first write each plane, u's finest ones left out.
std::vector<Loop> start(int finest);

class Planes {
 public:
  // `turns`: the domains that pages are dealt out to; none: first touch.
  Planes(Machine const& machine, policy::CoreMap const& map, std::vector<int> const& cpus,
         int finest, std::vector<int> turns);

  static double bytes(int level) noexcept {
    double const points = side(level) + 2;
    return 8 * points * points;
  }
  bool is_touched(Array array, int level, int plane) const noexcept {
    return home_[index(array, level, plane)] != nowhere;
  }
  void touch(Array array, int level, int plane, int domain) noexcept {
    auto& home = home_[index(array, level, plane)];
    if (home == nowhere) home = turns_.empty() ? domain : everywhere;
  }

  void hold_nothing() noexcept {
    for (auto& cache : caches_) cache.holds = -1;
  }
  // The bytes that a use moves between this cpu's cache and memory, added to `traffic` (one entry a
  // domain). Returns the bytes that the cache's users go through by it.
  double move(PlaneUse const& use, int cpu, std::vector<Traffic>& traffic);
  // The bytes that they have gone through since the beginning.
  void gone_through(int cpu, double bytes) noexcept { cache_of(cpu).gone_through = bytes; }
  void next_loop() noexcept { ++loop_; }
  int cache(int cpu) const noexcept { return cache_of_[static_cast<std::size_t>(cpu)]; }
  int caches() const noexcept { return static_cast<int>(caches_.size()); }

  // Of all bytes, what lies in each domain.
  std::vector<double> shares() const;
  double asked_bytes() const noexcept { return asked_; }    // read or written, by plane
  double missed_bytes() const noexcept { return missed_; }  // of these, what no cache had
  void forget_counts() noexcept { asked_ = missed_ = 0; }

 private:
  static constexpr int nowhere = -1, everywhere = -2;
  struct Cache {
    double holds = 0;  // bytes
    double gone_through = 0;
    std::vector<double> had;     // [plane]: gone_through when somebody last began with it
    std::vector<int> last_loop;  // [plane]: in which it was used
  };

  std::size_t index(Array array, int level, int plane) const noexcept {
    return first_[static_cast<std::size_t>(level)] +
           static_cast<std::size_t>(array) * static_cast<std::size_t>(side(level) + 2) +
           static_cast<std::size_t>(plane);
  }
  Cache& cache_of(int cpu) noexcept {
    return caches_[static_cast<std::size_t>(cache_of_[static_cast<std::size_t>(cpu)])];
  }
  void add(int home, double in, double out, std::vector<Traffic>& traffic) const;

  std::vector<int> turns_;
  std::vector<std::size_t> first_;  // [level]: index of its first plane
  std::vector<int> home_;           // [plane]
  std::vector<double> size_;        // [plane]
  std::vector<Cache> caches_;
  std::vector<int> cache_of_;  // [cpu's position]
  std::size_t domains_;
  int loop_ = 1;
  double asked_ = 0, missed_ = 0;
};

}  // namespace nigh::sim::mg
