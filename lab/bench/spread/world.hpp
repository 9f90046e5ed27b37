// SPDX-License-Identifier: Apache-2.0
#pragma once
// The processes that solve a problem together: those of MPI, where it was there to build with, else
// one.

#include <cstdint>
#include <memory>
#include <string>

#include "jacobi2d/blocks.hpp"

namespace bench {

enum class Sends { early, late, none };

class World {
 public:
  World(int& argc, char**& argv);
  ~World();
  World(World const&) = delete;
  World& operator=(World const&) = delete;

  jacobi2d::Part part() const noexcept { return part_; }
  // This process among those on its host.
  jacobi2d::Part on_host() const noexcept { return on_host_; }
  // Null when there is but one process.
  std::unique_ptr<jacobi2d::Courier> courier(Sends sends) const;
  void wait_for_all() const;
  double longest(double seconds) const;
  std::uint64_t sum(std::uint64_t checksum) const;

 private:
  jacobi2d::Part part_, on_host_;
};

}  // namespace bench
