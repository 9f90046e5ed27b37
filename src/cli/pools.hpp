// SPDX-License-Identifier: Apache-2.0
#pragma once
// Thread pools of running programs that get no leased cpus (settings/thread_pools.hpp).

#include <map>
#include <string>
#include <vector>

#include "cli/program_process.hpp"

namespace nigh::cli {

// Of many processes, with each file looked at once.
class PoolNames {
 public:
  // Their names, "OpenBLAS", sorted. Empty for a process that is gone, or that belongs to another
  // user, whose files we may not read.
  std::vector<std::string> of(ProgramProcess const& process);

 private:
  std::string const& in_file(std::string const& file);

  std::map<std::string, std::string> by_file_;
};

// "OpenBLAS, numba"
std::string listed(std::vector<std::string> const& names);

}  // namespace nigh::cli
