// SPDX-License-Identifier: Apache-2.0
#pragma once
// The machines of machines/, for tests; NIGH_MACHINES is that folder.

#include <gtest/gtest.h>

#include "sim/machine.hpp"

namespace nigh::tests {

inline sim::Machine machine(char const* name) {
  auto found = sim::find_machine(name, NIGH_MACHINES);
  EXPECT_TRUE(found.ok()) << found.message();
  return std::move(found).value();
}
inline policy::CoreMap core_map(char const* name) { return machine(name).core_map(); }

}  // namespace nigh::tests
