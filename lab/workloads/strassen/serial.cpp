// SPDX-License-Identifier: Apache-2.0
#include "strassen/config.hpp"

namespace strassen {

void solve_serial(Square c, Square a, Square b) {
  if (c.rows <= leaf_rows) return multiply(c, a, b);
  Step const step(c, a, b);
  for (int p = 0; p < Step::products; ++p) step.product(p, solve_serial);
  step.combine();
}

}  // namespace strassen
