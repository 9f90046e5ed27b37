// SPDX-License-Identifier: Apache-2.0
#pragma once
// The machine as rows of cpus, each cpu a sign for the program that has it.
//
//   package 0
//   ├─ domain 0   AAAA BBBB      a gap between cpus that do not share an L3 cache
//   └─ domain 1   .... CC##

#include <nigh/topology.hpp>
#include <string>
#include <vector>

#include "cli/top/frame.hpp"

namespace nigh::cli::top {

struct MachineTree {
  struct Domain {
    std::string name, short_name;
    std::vector<std::vector<int>> caches;  // cpus that share one, in hardware order
  };
  struct Package {
    std::string name;
    std::vector<Domain> domains;
  };
  std::vector<Package> packages;

  static MachineTree of(topology const& machine);
};

struct CpuSign {
  char sign = '.';
  Style style = {Ink::faint};
};

// At most so wide. As a tree while it has at most `most` rows; otherwise denser, with several
// domains in a row. `signs` by Linux's number of the cpu.
Rows machine_rows(MachineTree const& machine, std::vector<CpuSign> const& cpus, int width, int most,
                  Signs const& signs);

}  // namespace nigh::cli::top
