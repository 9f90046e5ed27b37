// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs started together, what they said, and when each of them ended.

#include <map>
#include <string>
#include <vector>

namespace bench {

struct Command {
  std::vector<std::string> words;                  // [0]: the program, looked for as a shell does
  std::map<std::string, std::string> environment;  // beside the plain one
  double start_seconds = 0;                        // when it comes
};

struct Ended {
  double seconds = 0;      // from the start of the first to the end of this one
  double cpu_seconds = 0;  // of all its threads
  int status = 0;          // exit code, or 128 + signal
  std::string output, errors;
};

std::string libexec_folder();  // where the driver lies, and its programs

// Starts all, in order, each when it comes, and waits until the last has ended. None of the
// variables that choose numbers of threads or places reaches them, except as a command says. A
// command that has not ended after `limit` seconds is killed, and std::runtime_error thrown.
std::vector<Ended> run_together(std::vector<Command> const& commands, double limit_seconds = 600);

}  // namespace bench
