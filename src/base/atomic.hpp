// SPDX-License-Identifier: Apache-2.0
#pragma once
// The atomics that lock-free code is written on. They are in a public header because spawning is
// inlined into programs.

#include <nigh/detail/atomic.hpp>
