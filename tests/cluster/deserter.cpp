// SPDX-License-Identifier: Apache-2.0
// deserter throws|returns|differs: the last rank ends its session before a run of the others, by an
// exception or without; or calls run() for another function than they do.

#include <chrono>
#include <cstdio>
#include <nigh/cluster.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "fib.hpp"

namespace {

long answer() { return 42; }

// Long enough to hear of a rank that has left.
void wait_for_it() { std::this_thread::sleep_for(std::chrono::seconds(20)); }

void work(int& argc, char**& argv, std::string const& how) {
  nigh::cluster::session const here(argc, argv);
  nigh::cluster::run<fib>(20);
  if (here.rank() == here.ranks() - 1) {
    if (how == "throws") throw std::runtime_error("cannot read the input");
    if (how == "returns") return;
    nigh::cluster::run<answer>();
  }
  if (how == "differs")
    nigh::cluster::run<fib>(20);
  else
    nigh::cluster::run<wait_for_it>();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    work(argc, argv, argc > 1 ? argv[1] : "");
  } catch (std::exception const& e) {
    std::fprintf(stderr, "caught: %s\n", e.what());
    return 1;
  }
}
