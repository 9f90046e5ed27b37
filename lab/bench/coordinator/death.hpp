// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long after `kill -9` of a program do its cpus go to one that waits for them? On a host that
// does nothing else, and on one that others keep busy.

#include <nigh/topology.hpp>
#include <string>
#include <vector>

#include "bench/results.hpp"

namespace bench {

struct DeathOptions {
  long repetitions = 5;
  long kills = 40;        // each a repetition's; every one is a sample
  long busy_per_cpu = 4;  // threads of others, on the host that is busy
  long memory_mib = 1;    // that the program has written to, and the kernel has to free
};

struct DeathStudy {
  DeathOptions options;
  std::vector<Result> results;
};

DeathStudy study_death(DeathOptions const& options, nigh::topology const& machine);
std::string describe(DeathStudy const& study);

}  // namespace bench
