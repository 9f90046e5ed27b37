// SPDX-License-Identifier: Apache-2.0
#pragma once
// Machines of hwloc's synthetic descriptions, for tests.

#include <nigh/topology.hpp>
#include <string_view>

namespace nigh::tests {

inline topology synthetic(std::string_view description) {
  return topology::from_synthetic(description).value();
}

}  // namespace nigh::tests
