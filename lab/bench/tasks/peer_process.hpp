// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program that holds the other compiler's OpenMP (see peer_main.cpp), as a child of ours.

#include <sys/types.h>

#include <sstream>
#include <string>
#include <vector>

#include "bench/tasks/solver.hpp"

namespace bench {

class PeerProcess {
 public:
  explicit PeerProcess(std::vector<int> cpus) : cpus_(std::move(cpus)) {}
  ~PeerProcess() { stop(); }
  PeerProcess(PeerProcess&&) = delete;
  PeerProcess& operator=(PeerProcess&&) = delete;

  static std::string family();      // "openmp-clang", or "openmp-gcc" where this is clang's work
  static std::string why_absent();  // empty: it is there

  // Both start the program when it is not running. std::runtime_error when it ends instead of
  // answering.
  Timed solve(Question const& question, int threads, int times);
  std::vector<double> rendezvous(double pause_us, int count, bool by_loop = false);
  double loop(std::string const& request);  // "triad ..." or "triangle ...": seconds

 private:
  void start();
  void stop() noexcept;
  std::istringstream ask(std::string const& request);  // what follows "ok" in the answer
  std::string next_line();

  std::vector<int> cpus_;
  pid_t child_ = -1;
  int socket_ = -1;  // its standard input and output
};

}  // namespace bench
