// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lets a process wait for its children.

#include <signal.h>

namespace nigh::platform {

// A process inherits from its parent that it ignores SIGCHLD. Then no child of it can be waited
// for, and no signal says that one has ended. While this lives, SIGCHLD has its usual effect.
class ChildEndsHeard {
 public:
  ChildEndsHeard() noexcept {
    struct sigaction usual{};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &usual, &before_);
  }
  ~ChildEndsHeard() { restore(); }
  ChildEndsHeard(ChildEndsHeard&&) = delete;

  // For a child that becomes another program, which inherits what we have inherited.
  void restore() const noexcept { ::sigaction(SIGCHLD, &before_, nullptr); }

 private:
  struct sigaction before_{};
};

}  // namespace nigh::platform
