// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where is the stack of the calling thread? The code may run on another, as coroutines do. For
// preloaded libraries, too.

#include <cstddef>

namespace nigh::platform {

struct Stack {
  char const* low = nullptr;  // null: not known
  std::size_t bytes = 0;

  bool holds(void const* place) const noexcept {
    return static_cast<std::size_t>(static_cast<char const*>(place) - low) < bytes;
  }
};

// Of the thread that main() runs in; it may yet grow to this size. Costs little.
Stack main_stack() noexcept;

// Of the calling thread. In the main thread on another stack than its own, this reads a file.
Stack own_stack() noexcept;

bool is_main_thread() noexcept;

}  // namespace nigh::platform
