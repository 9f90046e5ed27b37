// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part that every driver has around its measurement: options, one-line complaints, exit codes.

#include <functional>
#include <nigh/topology.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench {

// A mistake of the user's; the message names the argument. Printed as one line, exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Parses the arguments into what `declare` bound and then calls `body`. Programs are started as
// `nigh bench NAME` and speak of themselves as such.
int run_command(std::string const& name, std::string const& description, int argc, char** argv,
                std::function<void(CLI::App&)> const& declare, std::function<void()> const& body);

// The same for a program that goes by its own name.
int run_program(std::string const& program, std::string const& description, int argc, char** argv,
                std::function<void(CLI::App&)> const& declare, std::function<void()> const& body);

// OpenMP runtimes read their settings when they are loaded: sets the variables that are not set
// yet as given and starts the program again, once. Idle threads of one runtime must sleep while
// another one is measured, yet not be slower to wake than users see: spin for about a millisecond.
void restart_with_openmp_settings(char** argv);

// Recursion by tasks goes deep, and deeper where a waiting thread takes up other tasks on top of
// its own. To be called before the restart, for the main thread's stack gets its limit when the
// program starts: 1 GiB, or what the system allows, for that one and for OpenMP's threads.
void allow_deep_stacks();

// The first `threads` of the machine's allowed cpus, compact: where the threads of every variant
// are pinned. UsageError when there are not so many.
std::vector<int> cpus_for(long threads, nigh::topology const& machine);

// "0-2,5" as a list of cpus; UsageError naming the argument.
std::vector<int> parse_cpu_list(std::string const& argument, std::string const& text);

}  // namespace bench
