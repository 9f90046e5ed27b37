// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/parallel_invoke.h>

#include "strassen/config.hpp"

namespace strassen {

void solve_tbb(Square c, Square a, Square b) {
  if (c.rows <= leaf_rows) return multiply(c, a, b);
  Step const step(c, a, b);
  auto const product = [&step](int p) { return [&step, p] { step.product(p, solve_tbb); }; };
  oneapi::tbb::parallel_invoke(product(0), product(1), product(2), product(3), product(4),
                               product(5), product(6));
  step.combine();
}

}  // namespace strassen
