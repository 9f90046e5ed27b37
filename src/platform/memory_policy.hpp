// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the kernel takes fresh pages from, for a whole program rather than one array.

#include <nigh/result.hpp>
#include <vector>

namespace nigh::platform {

struct MemoryPolicy {
  enum class Kind { first_touch, interleave, bind, preferred };

  Kind kind = Kind::first_touch;
  std::vector<int> os_nodes = {};  // Linux's numbers; for preferred one, for first_touch none

  bool operator==(MemoryPolicy const&) const = default;
};

// For the calling thread and every thread and program it starts from now on. An error when the
// system refuses.
result<void> set_memory_policy(MemoryPolicy const& policy);

}  // namespace nigh::platform
