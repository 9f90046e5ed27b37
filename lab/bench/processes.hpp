// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs started together, what they said, and when each of them ended.

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>
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

// A command that runs beside others for as long as the object lives: each time it ends, it is begun
// anew. Nothing of what it says is kept. It ends with this process, too, however that ends.
class Companion {
 public:
  explicit Companion(Command const& command);  // std::runtime_error: it cannot be started
  ~Companion();
  Companion(Companion&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Companion& operator=(Companion&&) = delete;

 private:
  pid_t pid_ = -1;  // starts it again and again; the group of all that it starts
};

}  // namespace bench
