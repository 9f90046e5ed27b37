// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pinning threads that belong to somebody else's runtime.

#include <vector>

namespace bench {

bool pin_this_thread(int cpu);                         // false when the system refuses
bool allow_this_thread(std::vector<int> const& cpus);  // to run on any of them

}  // namespace bench
