// SPDX-License-Identifier: Apache-2.0
#pragma once
// NIGH_ASSERT(condition, "what was believed"): a bug stops the program at once, in every build.
// NIGH_DEBUG_ASSERT is for fast paths and vanishes with NDEBUG.

#include <cstdio>
#include <cstdlib>

namespace nigh::base {

[[noreturn]] inline void assertion_failed(char const* condition, char const* belief,
                                          char const* file, int line) noexcept {
  std::fprintf(stderr, "nigh: bug at %s:%d: %s (%s)\n", file, line, belief, condition);
  std::abort();
}

}  // namespace nigh::base

#define NIGH_ASSERT(condition, belief) \
  (static_cast<bool>(condition)        \
       ? static_cast<void>(0)          \
       : ::nigh::base::assertion_failed(#condition, belief, __FILE__, __LINE__))

#ifdef NDEBUG
#define NIGH_DEBUG_ASSERT(condition, belief) static_cast<void>(0)
#else
#define NIGH_DEBUG_ASSERT(condition, belief) NIGH_ASSERT(condition, belief)
#endif
