// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of the program's OpenMP teams may have fewer threads than it asks for.

#include <nigh/result.hpp>
#include <string>

namespace nigh::cli {

// NIGH_ADJUST, which the preloaded library reads; the error says what is wrong with the list.
result<std::string> adjust_variable(std::string const& list);

}  // namespace nigh::cli
