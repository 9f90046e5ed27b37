// SPDX-License-Identifier: Apache-2.0
#include "platform/terminal.hpp"

#include <unistd.h>

namespace nigh::platform {

bool errors_go_to_a_terminal() noexcept { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace nigh::platform
