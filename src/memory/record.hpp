// SPDX-License-Identifier: Apache-2.0
#pragma once
// The record of one placed block, kept for as long as the block lives.

#include <cstddef>
#include <nigh/array.hpp>
#include <nigh/topology.hpp>
#include <string>
#include <vector>

#include "policy/loops/placement.hpp"

namespace nigh::detail {

struct placed_record {
  std::byte* data = nullptr;
  policy::PlacementMap map;
  topology const* machine = nullptr;
  std::vector<int> os_node_of_domain;  // a copy, so that lookups need not follow `machine`
  bool of_this_host = false;
  std::string note;
};

}  // namespace nigh::detail
