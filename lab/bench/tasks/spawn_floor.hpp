// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fibonacci by the least that one thread must do so that others could steal from it. Nobody does:
// this is what a runtime's own cost per spawn is compared with.

#include <cstdint>

namespace bench {

// Each spawn writes a task's descriptor to memory and each join reads it back.
std::uint64_t fib_by_descriptors(int n);

// The same on a split stack of 32-byte slots: a spawn asks whether a thief wants tasks, a join
// whether the task is still private.
std::uint64_t fib_by_split_stack(int n);

}  // namespace bench
