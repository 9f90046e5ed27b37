// SPDX-License-Identifier: Apache-2.0
// The headers that need neither exceptions nor RTTI, as docs/install.md names them.
#include <nigh/array.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_reduce.hpp>
#include <nigh/per_worker.hpp>
#include <nigh/task_loop.hpp>
#include <nigh/topology.hpp>
#include <vector>

int main() {
  std::vector<long> values(100);
  nigh::parallel_for(0, 100, [&](int i) { values[static_cast<std::size_t>(i)] = i; });
  nigh::per_worker<long> sums;
  nigh::parallel_for(values, [&](long v) { sums.local() += v; });
  nigh::array<long> placed(100, nigh::placement::blocked(10));
  auto const machine = nigh::topology::live();
  long const sum = nigh::parallel_reduce(values, 0L, [](long a, long b) { return a + b; });
  return sum == 4950 && placed.size() == 100 && machine ? 0 : 1;
}
