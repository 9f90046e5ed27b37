// SPDX-License-Identifier: Apache-2.0
#pragma once
// May the teams of an object's regions (a library's or the program's) be smaller, and how much?
// From what was tried, and from the user's NIGH_ADJUST (settings/team_adjust.hpp).

#include <string_view>

#include "openmp/team_size.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// From the table of libraries and programs that were tried with smaller teams than they asked for.
// `path` of the object that holds a region: a library, or the program.
NIGH_HIDDEN TeamRule rule_of(std::string_view path, bool is_program) noexcept;

// Reads the environment, and reports on standard error what is wrong with it: all of it is ignored
// then. Once, before the program runs.
NIGH_HIDDEN void begin_adjust() noexcept;

// The rule for the regions of this object.
NIGH_HIDDEN Adjust adjust_of(std::string_view path) noexcept;

// Whether the user lets the size of a thread pool follow the program's part of the cpus: of any
// pool; or of the kind that `word` names, in this object.
NIGH_HIDDEN bool pools_may_follow() noexcept;
NIGH_HIDDEN bool may_follow(std::string_view word, std::string_view path) noexcept;

// At the end, on standard error: the libraries that the user named though they were not loaded.
NIGH_HIDDEN void tell_absent_libraries() noexcept;

}  // namespace nigh::openmp
