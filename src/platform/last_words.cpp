// SPDX-License-Identifier: Apache-2.0
#include "platform/last_words.hpp"

#include <poll.h>
#include <unistd.h>

namespace nigh::platform {

void end_with(std::string_view line, int status) noexcept {
  pollfd readers{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&readers, 1, 1000) > 0) {
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, line.data(), line.size());
  }
  ::_exit(status);
}

}  // namespace nigh::platform
