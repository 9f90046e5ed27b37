// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of NIGH_* variables in a runtime's options: in errors, and in notes.

#include <nigh/runtime.hpp>
#include <string>
#include <string_view>

namespace nigh::tasks {

// Each worker keeps a list of the others, so memory grows with the square of their number.
inline constexpr int most_workers = 1024;

// How an error calls the option "cpus", "workers" or "task_capacity": by the variable, if it is set
// to the option's value, else "runtime_options::cpus".
std::string option_as_given(runtime_options const& options, std::string_view option);

// A line on standard error, the first time in this process; NIGH_VERBOSE=0 keeps it back.
void note_once(std::string const& note);

}  // namespace nigh::tasks
