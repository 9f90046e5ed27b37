// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines become columns across the processes of MPI_COMM_WORLD.

#include <vector>

#include "adi/solver.hpp"

namespace adi {

class MpiTranspose {
 public:
  MpiTranspose(int n, int rank, int ranks);

  void operator()(Lines const& from, Lines& to);

 private:
  struct Part {
    int begin, end;  // lines of a process
    int size() const noexcept { return end - begin; }
  };

  Part part(int rank) const noexcept;
  void pack(Lines const& from, int rank) noexcept;
  void unpack(Lines& to, int rank) const noexcept;

  int n_, rank_, ranks_;
  std::vector<double> sent_, received_;
  std::vector<int> counts_, offsets_;  // by process; sent and received alike
};

Result combined(Result const& mine);  // of all processes, known to all

}  // namespace adi
