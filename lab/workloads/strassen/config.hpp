// SPDX-License-Identifier: Apache-2.0
#pragma once
// Strassen's product of two square matrices: seven products of half the size, one task each.

#include "strassen/step.hpp"

namespace strassen {

inline constexpr int leaf_rows = 64;  // multiplied by the definition, in every variant

void solve_serial(Square c, Square a, Square b);
void solve_openmp(Square c, Square a, Square b);
void solve_tbb(Square c, Square a, Square b);
void solve_nigh(Square c, Square a, Square b);

}  // namespace strassen
