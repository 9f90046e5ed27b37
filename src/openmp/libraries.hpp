// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much smaller teams may be in the regions of an object, a library or the program: what was
// tried, and what the user has said in NIGH_ADJUST (settings/team_adjust.hpp).

#include <string_view>

#include "openmp/team_size.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// From the table of libraries and programs that were tried with smaller teams than they asked for.
// `path` of the object that holds a region: a library, or the program.
NIGH_HIDDEN TeamRule rule_of(std::string_view path, bool is_program) noexcept;

// Reads the environment, and says what is wrong with it, on standard error: nothing of it is heeded
// then. Once, before the program runs.
NIGH_HIDDEN void begin_adjust() noexcept;

// Of the regions of this object.
NIGH_HIDDEN Adjust adjust_of(std::string_view path) noexcept;

// Whether the user lets the size of a thread pool follow the program's part of the cpus: of any
// pool, and of the kind that `word` names, in this object.
NIGH_HIDDEN bool pools_may_follow() noexcept;
NIGH_HIDDEN bool may_follow(std::string_view word, std::string_view path) noexcept;

// At the end, on standard error: of which libraries there was a word, though they were not loaded.
NIGH_HIDDEN void tell_absent_libraries() noexcept;

}  // namespace nigh::openmp
