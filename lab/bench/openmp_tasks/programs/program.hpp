// SPDX-License-Identifier: Apache-2.0
#pragma once
// The programs of `nigh bench openmp-tasks` share this: a size on the command line, and one line at
// the end. All else is plain OpenMP, as a user writes it.

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace task_program {

// Seconds that `solve` takes.
template <class Solve>
double timed(Solve solve) {
  auto const start = std::chrono::steady_clock::now();
  solve();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline long size_from(int argc, char** argv, long otherwise) {
  return argc > 1 ? std::strtol(argv[1], nullptr, 10) : otherwise;
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
