// SPDX-License-Identifier: Apache-2.0
#pragma once
// The grid divided among ranks along k. Each has a run of whole planes, and of its neighbours the
// plane next to these, sent before each sweep while the planes between are swept.

#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "jacobi3d/kernel.hpp"

namespace nigh::cluster {
class session;
}

namespace jacobi3d {

class Slab {
 public:
  // At least one plane for each rank of the session.
  Slab(Extent const& interior, nigh::cluster::session& ranks);

  void fill();
  void sweep(int times);
  std::uint64_t checksum();  // of the whole grid, on every rank

 private:
  struct Free {
    void operator()(double* p) const noexcept { std::free(p); }
  };
  using Field = std::unique_ptr<double[], Free>;

  Field reserve() const;
  void sweep_planes(std::ptrdiff_t from, std::ptrdiff_t to);
  double* plane(std::ptrdiff_t k) const noexcept;

  nigh::cluster::session& ranks_;
  Grid grid_;
  Kernel const& kernel_;
  std::ptrdiff_t first_, end_;  // planes of ours
  // Memory for the whole grid is reserved, and touched where our planes lie.
  Field now_, next_;
};

}  // namespace jacobi3d
