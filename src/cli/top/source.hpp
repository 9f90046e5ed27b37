// SPDX-License-Identifier: Apache-2.0
#pragma once
// The source of samples: asks the coordinator, and remembers facts for the next time.

#include <map>
#include <optional>
#include <string>

#include "cli/pools.hpp"
#include "cli/program_process.hpp"
#include "cli/region_name.hpp"
#include "cli/top/sample.hpp"

namespace nigh::cli::top {

class Source {
 public:
  explicit Source(std::string socket) { sample_.socket = std::move(socket); }

  // Waits at most so long for a coordinator that does not answer.
  void look(int patience_ms);
  Sample const& sample() const { return sample_; }
  Letters const& letters() const { return letters_; }

 private:
  void name_regions();
  void name_pools();

  Sample sample_;
  Letters letters_;
  std::map<ProgramProcess, RegionNames> names_;  // of a process, which may have many connections
  PoolNames pool_names_;
};

}  // namespace nigh::cli::top
