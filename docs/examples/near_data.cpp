// SPDX-License-Identifier: Apache-2.0
// An array spread over the machine's domains, worked on by tasks that run where their part lies.

#include <cstddef>
#include <cstdio>
#include <nigh/array.hpp>
#include <nigh/runtime.hpp>

int main() {
  constexpr std::size_t parts = 512;
  constexpr std::size_t part = 16384;

  nigh::array<double> numbers(parts * part, nigh::placement::blocked(part));
  nigh::runtime runtime;  // a pinned worker for each cpu this process may use

  for (std::size_t p = 0; p < parts; ++p) {
    double* const mine = &numbers[p * part];
    runtime.spawn(nigh::near(mine, part * sizeof(double)), [mine] {
      for (std::size_t i = 0; i < part; ++i) mine[i] += 1.0;
    });
  }
  runtime.wait();

  for (auto const& worker : runtime.counters())
    std::printf("cpu %d in domain %d ran %3llu tasks: %3llu local, %llu remote\n", worker.cpu,
                worker.domain, static_cast<unsigned long long>(worker.run),
                static_cast<unsigned long long>(worker.local),
                static_cast<unsigned long long>(worker.remote));

  auto const pages = numbers.report();
  for (std::size_t d = 0; d < pages.pages_of_domain.size(); ++d)
    std::printf("domain %zu holds %zu pages\n", d, pages.pages_of_domain[d]);
  std::printf("%zu pages misplaced\n", pages.misplaced);
}
