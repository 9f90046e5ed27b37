// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many messages a fuzz entry was given, for its driver to tell.

#include <cstdint>
#include <cstdio>

namespace fuzz {

inline std::uint64_t messages_played = 0;

inline void tell_messages() {
  std::printf("%llu messages\n", static_cast<unsigned long long>(messages_played));
}

}  // namespace fuzz
