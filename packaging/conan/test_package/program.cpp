// SPDX-License-Identifier: Apache-2.0
// A user's program, to show that the package can be built on.

#include <cstdio>
#include <nigh/topology.hpp>
#include <nigh/version.hpp>

int main() {
  auto const machine = nigh::topology::live();
  if (!machine) return 1;
  std::printf("nigh %s sees %d domains\n", nigh::version(), machine->cpu_domains());
  return 0;
}
