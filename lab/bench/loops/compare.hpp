// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loops of nigh beside those of its peers: how soon the second thread takes part, how fast a loop
// runs that waits for memory, and one whose rows differ in length.

#include <string>
#include <vector>

#include "bench/loops/options.hpp"
#include "bench/results.hpp"

namespace bench {

std::vector<Result> compare_loops(LoopsOptions const& options);
std::string describe_loops(std::vector<Result> const& results, LoopsOptions const& options);

}  // namespace bench
