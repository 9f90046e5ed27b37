// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs: the file of the running one, which files may be run, running one or becoming one.

#include <filesystem>
#include <nigh/result.hpp>
#include <string>
#include <vector>

namespace nigh::platform {

// The running program's file; empty when the system does not say.
std::filesystem::path this_program();

// Another process's; empty when the system does not say, or not to us.
std::filesystem::path program_of(int process);

int process_id() noexcept;  // another one in a child after fork()
int parent_process_id() noexcept;

bool is_runnable(std::filesystem::path const& file);  // a regular file we may execute

// The file that a shell would run for this word; empty when there is none in PATH. A word with a
// slash is a file, whether it is there or not.
std::filesystem::path find_program(std::string const& word);

// Replaces this process by the program, with these arguments (without its own name); returns only
// on failure.
error become(std::filesystem::path const& program, std::vector<std::string> const& arguments);

// For exec and spawn: where each word begins, then a null pointer. They point into `words`.
std::vector<char*> pointers_to(std::vector<std::string>& words);

// Of what wait(2) says of a process that has ended: its exit status, or 128 + n when signal n ended
// it.
int exit_status(int wait_status) noexcept;

// Waits for the end of a child; its exit_status(). The error names the program.
result<int> wait_for(int child, std::string const& program);

// Exit statuses that env(1) and timeout(1) have where they fail themselves.
inline constexpr int failed_as_env = 125, not_runnable_as_env = 126, not_found_as_env = 127;

// Runs the program words[0], looked for as a shell does, with these arguments, and with variables
// ("NAME=value") added to our own; returns its exit status, 128 + n when signal n ended it.
// Meanwhile keys that interrupt, such as ^C, are for the program.
result<int> run_program(std::vector<std::string> const& words,
                        std::vector<std::string> const& variables);

// The first Python that has a module and can import `parts` of it ("plotly.offline"): that of
// NIGH_PYTHON, python3 as a shell finds it, then the system's, which a virtual environment may
// hide. The error says "needs plotly, which ... have not", or that it is damaged.
result<std::string> python_with(std::string const& module, std::string const& parts);

// Whether it lies in static memory, of this program or of a library that is loaded.
bool is_static(void const* object) noexcept;

}  // namespace nigh::platform
