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
  // user, whose files we may not read; and for one all of whose threads keep to the cpus that it
  // holds, fewer than the host has, as in a block of Python's nigh.limit().
  std::vector<std::string> of(coordinator::Status const& program, coordinator::Status const& host);

 private:
  std::string const& in_file(std::string const& file);

  std::map<std::string, std::string> by_file_;
};

// "OpenBLAS, numba"
std::string listed(std::vector<std::string> const& names);

}  // namespace nigh::cli
