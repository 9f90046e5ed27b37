// SPDX-License-Identifier: Apache-2.0
#pragma once
// Thread pools of running programs that are leased no cpus (settings/thread_pools.hpp).

#include <map>
#include <string>
#include <vector>

namespace nigh::cli {

// Their names, "OpenBLAS", in the order of the alphabet. Empty for a process that is gone, or that
// belongs to another user: its files are not for us to read.
std::vector<std::string> pools_of(int process);

// The same of many processes, each file looked at once.
class PoolNames {
 public:
  std::vector<std::string> of(int process);

 private:
  std::string const& in_file(std::string const& file);

  std::map<std::string, std::string> by_file_;
};

// "OpenBLAS, numba"
std::string listed(std::vector<std::string> const& names);

}  // namespace nigh::cli
