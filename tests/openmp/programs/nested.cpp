// SPDX-License-Identifier: Apache-2.0
// nested REPEATS [LEADERS [MEMBERS [WORD...]]]: a region whose threads begin regions, so many
// times. Each time a line with, of every thread of the outer one, what omp_get_max_threads() says
// there and where the threads of its inner one may run: "2(0 1) 2(2 3)". A number above 0 is a
// num_threads clause. Words: flat begins no regions inside; levels=N calls
// omp_set_max_active_levels before, nested=N omp_set_nested, threads=N omp_set_num_threads; best=N
// has the outer region be over sooner with N threads; sum=N prints sums instead, of N threads of
// the program that each begin such regions at once.

#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "allowed.hpp"

namespace {

constexpr int most = 64, most_hosts = 4, blocks = 12, rows = 50;
bool is_flat = false;
int best = 0;
long sums[most_hosts][blocks];

std::string inner(int members) {
  std::vector<std::string> where(most);
  int threads = 0;
  auto const body = [&] {
    where[static_cast<std::size_t>(omp_get_thread_num())] = allowed();
#pragma omp single
    threads = omp_get_num_threads();
  };
  std::string text = std::to_string(omp_get_max_threads()) + '(';
  if (is_flat) return text + allowed() + ')';
  if (members > 0) {
#pragma omp parallel num_threads(members)
    body();
  } else {
#pragma omp parallel
    body();
  }
  for (int k = 0; k < threads; ++k) text += (k > 0 ? " " : "") + where[static_cast<std::size_t>(k)];
  return text + ')';
}

void sum(int host, int block) {
  long total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int row = 0; row < rows; ++row) total += row * block;
  sums[host][block] += total;
}

void print_sums(int repeats, int hosts) {
  std::vector<std::thread> threads;
  for (int host = 0; host < hosts; ++host)
    threads.emplace_back([=] {
      for (int i = 0; i < repeats; ++i) {
#pragma omp parallel for
        for (int block = 0; block < blocks; ++block) sum(host, block);
      }
    });
  for (auto& t : threads) t.join();
  for (int host = 0; host < hosts; ++host)
    for (long s : sums[host]) std::printf("%ld\n", s);
}

void print_places(int clause, int members) {
  std::vector<std::string> leaders(most);
  int threads = 0;
  auto const body = [&] {
    leaders[static_cast<std::size_t>(omp_get_thread_num())] = inner(members);
#pragma omp single
    {
      threads = omp_get_num_threads();
      if (best > 0) usleep(threads == best ? 10'000 : 100'000);
    }
  };
  if (clause > 0) {
#pragma omp parallel num_threads(clause)
    body();
  } else {
#pragma omp parallel
    body();
  }
  for (int k = 0; k < threads; ++k)
    std::printf("%s ", leaders[static_cast<std::size_t>(k)].c_str());
  std::printf("levels %d max %d\n", omp_get_max_active_levels(), omp_get_max_threads());
}

}  // namespace

int main(int count, char** words) {
  auto const number = [&](int i) { return i < count ? std::atoi(words[i]) : 0; };
  int hosts = 0;
  for (int i = 4; i < count; ++i) {
    std::string const word = words[i];
    int const value = std::atoi(word.c_str() + word.find('=') + 1);
    if (word == "flat") is_flat = true;
    if (word.starts_with("best=")) best = value;
    if (word.starts_with("sum=")) hosts = value;
    if (word.starts_with("levels=")) omp_set_max_active_levels(value);
    if (word.starts_with("nested=")) omp_set_nested(value);
    if (word.starts_with("threads=")) omp_set_num_threads(value);
  }
  if (hosts > 0)
    print_sums(number(1), hosts);
  else
    for (int i = 0; i < number(1); ++i) print_places(number(2), number(3));
}
