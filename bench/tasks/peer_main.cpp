// SPDX-License-Identifier: Apache-2.0
// nigh-peer-openmp-clang (or -gcc): the OpenMP variants under the other compiler's runtime, which
// cannot share a process with the driver's. Reads one line a sample,
//
//     PROBLEM SIZE CUTOFF THREADS TIMES
//
// and answers "ok ANSWER SECONDS" or "error WHY". Sleeps in between. Ends with its input.
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>

#include "bench/pin.hpp"
#include "bench/tasks/solver.hpp"

int main(int argc, char** argv) {
  workloads::TeamOptions options;
  for (int n = 1; n < argc; ++n) options.cpus.push_back(std::atoi(argv[n]));
  options.pin = bench::pin_this_thread;
  bench::Solver solver(options);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    bench::Question question;
    int threads = 0, times = 0;
    words >> question.problem >> question.size >> question.cutoff >> threads >> times;
    try {
      bench::Timed const t = solver.solve(question, workloads::Family::openmp, threads, times);
      std::printf("ok %llu %.9g\n", static_cast<unsigned long long>(t.answer), t.seconds);
    } catch (std::exception const& e) {
      std::printf("error %s\n", e.what());
    }
    std::fflush(stdout);
  }
}
