// SPDX-License-Identifier: Apache-2.0
#pragma once
// The subcommands of `nigh`. Each add_*() declares its options and sets a callback that does the
// work; mistakes in the user's input leave it as a UsageError.

#include <string>
#include <vector>

#include "cli/program_main.hpp"

namespace nigh::cli {

void add_topo(CLI::App& app);
void add_bench(CLI::App& app);
std::vector<std::string> bench_names();  // of what is installed
void add_completion(CLI::App& app);
void add_doctor(CLI::App& app);
// `program`: the words of PROGRAM ARGUMENTS..., filled in when the command runs.
void add_run(CLI::App& app, std::vector<std::string> const& program);
void add_sim(CLI::App& app);
std::vector<std::string> experiment_names();  // of nigh sim, if its program is installed
void add_profile(CLI::App& app, std::vector<std::string> const& program);
void add_report(CLI::App& app, std::vector<std::string> const& program);
void add_status(CLI::App& app);
void add_top(CLI::App& app);
void add_trace(CLI::App& app, std::vector<std::string> const& program);
void add_tune(CLI::App& app, std::vector<std::string> const& program);

}  // namespace nigh::cli
