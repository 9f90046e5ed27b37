// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part that the plain OpenMP programs share: flags, complaints, exit codes, and one line of
// answer.
//
// They leave every thread where the system puts it, and every OMP_* variable in force. Standard
// output is the same with any number of threads; what differs from run to run goes to standard
// error, when asked for.

#include <functional>
#include <string>

namespace bench {

struct Answer {
  std::string line;
  bool verified = false;
};

struct PlainProgram {
  std::string name, description;
  std::string size_flag, size_help;  // --size or --class, and what may follow
  std::string default_size;
  std::function<Answer(std::string const& size)> solve;  // UsageError for no such size
  std::function<Answer(std::string const& size)> solve_serially = nullptr;  // none: no such flag
};

int run_plain_program(PlainProgram const& program, int argc, char** argv);

// UsageError naming the flag.
int size_from(std::string const& flag, std::string const& word, int least, int most);

std::string hex(unsigned long long checksum);

}  // namespace bench
