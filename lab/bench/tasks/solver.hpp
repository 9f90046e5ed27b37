// SPDX-License-Identifier: Apache-2.0
#pragma once
// Solves problems in this process, and takes the time.

#include <sys/types.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "workloads/problem.hpp"
#include "workloads/team.hpp"

namespace bench {

struct Question {
  std::string problem, size;
  int cutoff = 0;

  auto operator<=>(Question const&) const = default;
};

struct Timed {
  double seconds = 0;  // of one solution
  workloads::Answer answer = 0;
};

class Solver {
 public:
  // `most` holds a cpu for each thread that will ever be asked for.
  explicit Solver(workloads::TeamOptions most) : most_(std::move(most)) {}

  // So many times in succession, with that many threads; the mean. When answers differ among
  // themselves, one that does not agree with the expected one is returned.
  Timed solve(Question const& question, workloads::Family family, int threads, int times);

  workloads::Instance& instance(Question const& question);  // std::invalid_argument: no such

 private:
  workloads::Team& team(workloads::Family family, int threads);

  workloads::TeamOptions most_;
  std::map<Question, std::unique_ptr<workloads::Instance>> instances_;
  std::map<std::tuple<workloads::Family, int>, std::unique_ptr<workloads::Team>> teams_;
};

// How often to solve what takes so many seconds, so that a sample is long enough to be timed.
int times_for(double seconds, double sample_seconds) noexcept;

// The program that holds the other compiler's OpenMP (see peer_main.cpp), as a child of ours.

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
