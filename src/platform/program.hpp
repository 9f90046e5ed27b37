// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs: where the running one lies, which ones may be run, and becoming another one.

#include <filesystem>
#include <nigh/result.hpp>
#include <string>
#include <vector>

namespace nigh::platform {

// The running program's file; empty when the system does not say.
std::filesystem::path this_program();

int process_id() noexcept;  // another one in a child after fork()

bool is_runnable(std::filesystem::path const& file);  // a regular file we may execute

// Replaces this process by the program, with these arguments (its own name not among them);
// returns only when that failed.
error become(std::filesystem::path const& program, std::vector<std::string> const& arguments);

}  // namespace nigh::platform
