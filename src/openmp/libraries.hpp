// SPDX-License-Identifier: Apache-2.0
#pragma once
// Libraries and programs that were tried with smaller teams than they asked for.

#include <string_view>

#include "openmp/team_size.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// `path` of the object that holds a region: a library, or the program.
NIGH_HIDDEN TeamRule rule_of(std::string_view path, bool is_program) noexcept;

}  // namespace nigh::openmp
