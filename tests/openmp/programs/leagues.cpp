// SPDX-License-Identifier: Apache-2.0
// leagues: many times a region, then a league of two teams that each begin a region. clang's runtime
// has a worker of the first region lead the second team. Prints the sums of both teams, and where
// the second one may run: "anywhere", or on which cpus.

#include <omp.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

#include "allowed.hpp"

namespace {

constexpr int rows = 1000;

void region() {
#pragma omp parallel num_threads(2)
  {
    int volatile work = 0;
    for (int i = 0; i < rows; ++i) work = work + i;
  }
}

// Overwrites the frames that the region had.
void scribble() {
  std::array<std::uint64_t volatile, 8192> room;
  for (auto& word : room) word = 0x0000'0101'0101'0101;
}

struct Team {
  long sum = 0;
  std::string cpus;  // of its last thread
};

Team run() {
  Team team;
  long sum = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for reduction(+ : sum)
    for (int row = 0; row < rows; ++row) sum += row;
    if (omp_get_thread_num() == omp_get_num_threads() - 1) team.cpus = allowed();
  }
  team.sum = sum;
  return team;
}

}  // namespace

int main() {
  std::string const all = allowed();
  for (int i = 0; i < 20; ++i) {
    region();
    scribble();
    std::array<Team, 2> teams;
#pragma omp teams num_teams(2)
    teams[static_cast<std::size_t>(omp_get_team_num())] = run();
    std::string const cpus = teams[1].cpus == all ? "anywhere" : teams[1].cpus;
    std::printf("%ld %ld %s\n", teams[0].sum, teams[1].sum, cpus.c_str());
  }
}
