// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the user has said of the sizes of teams, in NIGH_ADJUST (policy/team_adjust.hpp).

#include <string_view>

#include "openmp/team_size.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

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
