// SPDX-License-Identifier: Apache-2.0
#pragma once
// The programs of `nigh bench openmp-tasks` share this: a size on the command line, and one line at
// the end. All else is plain OpenMP, as a user writes it.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace task_program {

// Seconds that `solve` takes.
template <class Solve>
double timed(Solve solve) {
  auto const start = std::chrono::steady_clock::now();
  solve();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline char const* file_name(char const* program) {
  char const* const slash = std::strrchr(program, '/');
  return slash != nullptr ? slash + 1 : program;
}

// Ends the program when its first word asks how to use it. `size` says which sizes there are, and
// `after_size` which words may follow.
inline void answer_help(int argc, char** argv, char const* size, char const* after_size = "") {
  if (argc < 2 || (std::strcmp(argv[1], "--help") != 0 && std::strcmp(argv[1], "-h") != 0)) return;
  std::printf(
      "Usage: %s [SIZE]%s\n\nSolves a problem with OpenMP tasks, and verifies the answer.\n"
      "SIZE is %s.\n",
      file_name(argv[0]), after_size, size);
  std::exit(0);
}

// Ends the program: the command line is not as it must be.
[[noreturn]] inline void refuse(char const* program, char const* word, char const* wanted) {
  std::fprintf(stderr, "%s: '%s': must be %s\n", file_name(program), word, wanted);
  std::exit(2);
}

struct Range {
  long least, most;
  bool is_power_of_two = false;
};

// The first word, or `otherwise` where there is none. Ends the program when that word is --help.
inline long size_from(int argc, char** argv, long otherwise, Range range,
                      char const* after_size = "") {
  if (argc < 2) return otherwise;
  char wanted[100];
  std::snprintf(wanted, sizeof wanted, "%s from %ld to %ld",
                range.is_power_of_two ? "a power of two" : "a number", range.least, range.most);
  char size_text[120];
  std::snprintf(size_text, sizeof size_text, "%s; default %ld", wanted, otherwise);
  answer_help(argc, argv, size_text, after_size);
  char* end = nullptr;
  long const size = std::strtol(argv[1], &end, 10);
  bool const is_number = end != argv[1] && *end == '\0';
  if (!is_number || size < range.least || size > range.most ||
      (range.is_power_of_two && (size & (size - 1)) != 0))
    refuse(argv[0], argv[1], wanted);
  return size;
}

// The exit status.
inline int report(double seconds, bool right) {
  std::printf("seconds %.9f %s\n", seconds, right ? "verified" : "WRONG");
  return right ? 0 : 1;
}

// Numbers that look random and are the same everywhere.
class Sequence {
 public:
  explicit Sequence(unsigned long seed) : state_(seed) {}
  unsigned next() {
    state_ = state_ * 6364136223846793005ul + 1442695040888963407ul;
    return static_cast<unsigned>(state_ >> 33);
  }
  double fraction() { return next() / 2147483648.0; }

 private:
  unsigned long state_;
};

}  // namespace task_program
