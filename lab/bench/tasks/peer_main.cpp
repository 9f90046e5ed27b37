// SPDX-License-Identifier: Apache-2.0
// nigh-peer-openmp-clang CPU... (or -gcc): the OpenMP variants under the other compiler's runtime,
// which cannot share a process with the driver's. Reads one line a sample, sleeps in between, and
// ends with its input:
//
//     solve PROBLEM SIZE CUTOFF THREADS TIMES   ->  ok ANSWER SECONDS
//     rendezvous PAUSE_US COUNT                 ->  ok NANOSECONDS...
//     rendezvous-loop PAUSE_US COUNT            ->  the same, by loops
//     triad SCHEDULE ELEMENTS                   ->  ok SECONDS
//     triangle SCHEDULE ROWS FALLING            ->  ok SECONDS
//     anything that fails                       ->  error WHY
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string_view>

#include "bench/loops/kernels.hpp"
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

template <class Time>
void rendezvous(std::istream& request, std::vector<int> const& cpus, Time time) {
  double pause_us = 0;
  int count = 0;
  request >> pause_us >> count;
  std::ostringstream answer;
  for (double const ns : time(cpus, pause_us, count)) answer << ' ' << ns;
  std::cout << "ok" << answer.str() << std::endl;
}

void triad(std::istream& request, bench::Loops const& loops) {
  std::string schedule;
  std::size_t elements = 0;
  request >> schedule >> elements;
  static bench::TriadArrays arrays(elements, loops);
  std::cout << "ok " << arrays.seconds(loops, schedule) << std::endl;
}

void triangle(std::istream& request, bench::Loops const& loops) {
  std::string schedule;
  std::size_t rows = 0;
  bool falling = false;
  request >> schedule >> rows >> falling;
  bench::Triangle work(rows, falling);
  std::cout << "ok " << work.seconds(loops, schedule) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    auto const name = std::filesystem::path(argv[0]).filename().string();
    std::cout << "Usage: " << name
              << " CPU...\n\nnigh bench tasks and nigh bench loops start it and talk to it.\n";
    return 0;
  }
  std::vector<int> const cpus = cpus_of(argc, argv);
  workloads::TeamOptions options;
  options.cpus = cpus;
  options.pin = bench::pin_this_thread;
  bench::Solver solver(options);
  bench::Loops const loops = bench::openmp_loops(cpus);
  std::cout.precision(9);
  for (std::string line, command; std::getline(std::cin, line);) try {
      std::istringstream request(line);
      request >> command;
      if (command == "solve") solve(request, solver);
      if (command == "rendezvous") rendezvous(request, cpus, bench::time_openmp_rendezvous);
      if (command == "rendezvous-loop")
        rendezvous(request, cpus, bench::time_openmp_loop_rendezvous);
      if (command == "triad") triad(request, loops);
      if (command == "triangle") triangle(request, loops);
    } catch (std::exception const& e) {
      std::cout << "error " << e.what() << std::endl;
    }
}
