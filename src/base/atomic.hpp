// SPDX-License-Identifier: Apache-2.0
#pragma once
// The atomics that lock-free code is written on; they are in a public header because spawning is
// inlined into the programs that do it.

#include <nigh/detail/atomic.hpp>
