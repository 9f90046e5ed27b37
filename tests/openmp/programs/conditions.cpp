// SPDX-License-Identifier: Apache-2.0
// Regions with an if(), which is true, false and true; the last one uses a variable. Prints how many
// threads each has.

#include <omp.h>

#include <cstdio>

namespace {

int without_variables = 0;

void plain(bool is_parallel) {
#pragma omp parallel if (is_parallel)
#pragma omp master
  without_variables = omp_get_num_threads();
}

int with_a_variable(bool is_parallel) {
  int threads = 0;
#pragma omp parallel if (is_parallel)
#pragma omp master
  threads = omp_get_num_threads();
  return threads;
}

}  // namespace

int main(int count, char**) {
  bool const yes = count > 0;
  plain(yes);
  std::printf("%d", without_variables);
  plain(!yes);
  std::printf(" %d %d", without_variables, with_a_variable(!yes));
  std::printf(" %d\n", with_a_variable(yes));
}
