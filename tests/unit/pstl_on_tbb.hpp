// SPDX-License-Identifier: Apache-2.0
#pragma once
// See pstl_on_tbb.cpp.

#include <vector>

namespace on_tbb {

char const* policy_name();  // of the type of std::execution::par
void sort(std::vector<int>& v);
bool runs_in_an_arena();  // of oneTBB, as it says itself
long sum(std::vector<int> const& v);

}  // namespace on_tbb
