// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pinning threads that belong to somebody else's runtime.

namespace bench {

bool pin_this_thread(int cpu);  // false when the system refuses

}  // namespace bench
