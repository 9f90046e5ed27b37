// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions that this program's tasks may run. Each translation unit lists its own before
// main() begins; at the start of a session they are numbered by name, the same on every rank.

#include <cstdint>
#include <nigh/detail/cluster_function.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace nigh::cluster {

// Sorted, and numbered by their place; functions listed from now on are too late.
std::vector<detail::function*> close_functions();
void open_functions() noexcept;  // at the session's end
bool has_free_tasks() noexcept;  // whether some function is spawned free

// As people write it: "fib(int)".
std::string readable_name(detail::function const& f);
std::string readable_name(std::string const& type_name);

// A line for each function, in order: its name as compilers write it, and the sizes of its
// arguments and result. One more line tells that some are spawned free.
std::string program_of(std::vector<detail::function*> const& functions, bool has_free_tasks);
inline constexpr std::string_view free_line = "some tasks are spawned free";

// The first line that one of the two lists lacks, and which list; empty when they are the same.
struct Difference {
  std::string name;
  bool in_first = false;
  bool only_in_size = false;  // the other has a function of that name
};
Difference first_difference(std::string_view first, std::string_view second);

}  // namespace nigh::cluster
