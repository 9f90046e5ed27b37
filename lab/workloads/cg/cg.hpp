// SPDX-License-Identifier: Apache-2.0
#pragma once
// CG of the NAS Parallel Benchmarks (Bailey and others 1991): the smallest eigenvalue of a sparse
// matrix by inverse iteration, each step 25 iterations of conjugate gradients. Hundreds of short
// regions whose threads read each other's vectors all the time.

#include <span>
#include <string_view>

namespace cg {

struct Class {
  char name = '?';
  int n = 0;
  int nonzeros = 0;  // of a random vector
  int iterations = 0;
  double shift = 0;
  double zeta = 0;  // published
};

std::span<Class const> classes() noexcept;
Class const* find_class(std::string_view name) noexcept;  // "A" or "a"; null: there is none

struct Result {
  double zeta = 0;
  double residual = 0;    // |x - A z| of the last solution
  bool verified = false;  // zeta is the published one to 1e-10
};

// The same bits with any number of threads.
Result run(Class const& size);

}  // namespace cg
