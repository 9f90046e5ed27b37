// SPDX-License-Identifier: Apache-2.0
#include "platform/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace nigh::platform {

bool errors_go_to_a_terminal() noexcept { return ::isatty(STDERR_FILENO) == 1; }

bool is_interactive() noexcept {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

int output_width() noexcept {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace nigh::platform
