// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs: where the running one lies, which ones may be run, running or becoming another one.

#include <filesystem>
#include <nigh/result.hpp>
#include <string>
#include <vector>

namespace nigh::platform {

// The running program's file; empty when the system does not say.
std::filesystem::path this_program();

// Another process's; empty when the system does not say, or may not to us.
std::filesystem::path program_of(int process);

int process_id() noexcept;  // another one in a child after fork()
int parent_process_id() noexcept;

bool is_runnable(std::filesystem::path const& file);  // a regular file we may execute

// Replaces this process by the program, with these arguments (its own name not among them);
// returns only when that failed.
error become(std::filesystem::path const& program, std::vector<std::string> const& arguments);

// Runs the program words[0], looked for as a shell does, with these arguments and with variables
// ("NAME=value") added to our own; returns its exit status, 128 + n when signal n ended it. Keys
// that interrupt, such as ^C, are left to the program meanwhile.
result<int> run_program(std::vector<std::string> const& words,
                        std::vector<std::string> const& variables);

}  // namespace nigh::platform
