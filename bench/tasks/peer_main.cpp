// SPDX-License-Identifier: Apache-2.0
// nigh-peer-openmp-clang CPU... (or -gcc): the OpenMP variants under the other compiler's runtime,
// which cannot share a process with the driver's. Reads one line a sample, sleeps in between, and
// ends with its input:
//
//     solve PROBLEM SIZE CUTOFF THREADS TIMES   ->  ok ANSWER SECONDS
//     rendezvous PAUSE_US COUNT                 ->  ok NANOSECONDS...
//     anything that fails                       ->  error WHY
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>

#include "bench/pin.hpp"
#include "bench/tasks/rendezvous.hpp"
#include "bench/tasks/solver.hpp"

namespace {

std::vector<int> cpus_of(int argc, char** argv) {
  std::vector<int> cpus;
  for (int n = 1; n < argc; ++n) cpus.push_back(std::atoi(argv[n]));
  return cpus;
}

void solve(std::istream& request, bench::Solver& solver) {
  bench::Question question;
  int threads = 0, times = 0;
  request >> question.problem >> question.size >> question.cutoff >> threads >> times;
  bench::Timed const t = solver.solve(question, workloads::Family::openmp, threads, times);
  std::cout << "ok " << t.answer << ' ' << t.seconds << std::endl;
}

void rendezvous(std::istream& request, std::vector<int> const& cpus) {
  double pause_us = 0;
  int count = 0;
  request >> pause_us >> count;
  std::ostringstream answer;
  for (double const ns : bench::time_openmp_rendezvous(cpus, pause_us, count)) answer << ' ' << ns;
  std::cout << "ok" << answer.str() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> const cpus = cpus_of(argc, argv);
  workloads::TeamOptions options;
  options.cpus = cpus;
  options.pin = bench::pin_this_thread;
  bench::Solver solver(options);
  std::cout.precision(9);
  for (std::string line, command; std::getline(std::cin, line);) try {
      std::istringstream request(line);
      request >> command;
      command == "solve" ? solve(request, solver) : rendezvous(request, cpus);
    } catch (std::exception const& e) {
      std::cout << "error " << e.what() << std::endl;
    }
}
