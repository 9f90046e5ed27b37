// SPDX-License-Identifier: Apache-2.0
#pragma once
// The source of samples: asks the coordinator, and remembers facts for the next time.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/pools.hpp"
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
  // Of a process, which may have many connections; by its number and its start.
  std::map<std::pair<std::uint32_t, std::uint64_t>, RegionNames> names_;
  // By program's number: the start of its process, as it was when the program was first seen.
  std::map<std::uint32_t, std::uint64_t> starts_;
  PoolNames pool_names_;
};

}  // namespace nigh::cli::top
