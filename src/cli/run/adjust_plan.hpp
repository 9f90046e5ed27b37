// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of the program's OpenMP teams and thread pools may have fewer threads than it asks for.

#include <nigh/result.hpp>
#include <string>

#include "cli/run/plan.hpp"

namespace nigh::cli {

// NIGH_ADJUST, which the preloaded library reads; the error names the mistake in the list.
result<std::string> adjust_variable(std::string const& list);

// The mistake in a list that the environment has already; empty: none.
std::string mistake_in_adjust(Inherited const& inherited);

}  // namespace nigh::cli
