// SPDX-License-Identifier: Apache-2.0
// A user's program: sums an array block by block, each block near its data.

#include <cstddef>
#include <cstdio>
#include <nigh/array.hpp>
#include <nigh/runtime.hpp>
#include <nigh/topology.hpp>
#include <nigh/version.hpp>
#include <vector>

int main() {
  constexpr std::size_t blocks = 64;
  constexpr std::size_t block = 4096;
  nigh::array<double> numbers(blocks * block, nigh::placement::blocked(block));
  std::vector<double> sums(blocks);
  nigh::runtime runtime;
  for (std::size_t b = 0; b < blocks; ++b) {
    double* const from = numbers.data() + b * block;
    runtime.spawn(nigh::near(from, block * sizeof(double)), [from, b, &sums] {
      for (std::size_t i = 0; i < block; ++i) {
        from[i] = 1.0;
        sums[b] += from[i];
      }
    });
  }
  runtime.wait();
  double sum = 0;
  for (double s : sums) sum += s;
  auto const machine = nigh::topology::from_synthetic("pack:2 numa:1 core:2 pu:1");
  std::printf("nigh %s: %.0f elements on %d workers; a made-up machine has %d domains\n",
              nigh::version(), sum, runtime.workers(), machine->cpu_domains());
  bool const right = sum == static_cast<double>(blocks * block) && machine->cpu_domains() == 2;
  return right ? 0 : 1;
}
