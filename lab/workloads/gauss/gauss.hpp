// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gaussian elimination with partial pivoting, a parallel region for each column: many regions that
// become smaller and smaller, so that the last ones cannot use all the threads the first ones can.

#include <cstdint>
#include <vector>

namespace gauss {

struct Result {
  std::vector<double> x;
  double scaled_residual = 0;  // |Ax - b| / (eps |A| |x| n), in maximum norms
  std::uint64_t checksum = 0;  // of x
  bool verified = false;       // the residual is what rounding explains
};

// A x = b for n unknowns; A is random, and b is such that all x are 1 up to rounding. The same
// bits with any number of threads.
Result solve(int n);

double matrix_element(int n, int row, int column) noexcept;  // of A, in [-1, 1)

}  // namespace gauss
