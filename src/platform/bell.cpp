// SPDX-License-Identifier: Apache-2.0
#include "platform/bell.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <ctime>

namespace nigh::platform {

Bell::Bell() noexcept : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Bell::~Bell() { drop(); }

void Bell::drop() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void Bell::ring() noexcept {
  std::uint64_t const once = 1;
  [[maybe_unused]] auto const written = ::write(descriptor_, &once, sizeof once);
}

void Bell::wait(int socket, std::optional<std::int64_t> timeout_us) noexcept {
  std::array<pollfd, 2> on{pollfd{descriptor_, POLLIN, 0}, pollfd{socket, POLLIN, 0}};
  timespec time{};
  if (timeout_us) {
    time.tv_sec = static_cast<std::time_t>(*timeout_us / 1'000'000);
    time.tv_nsec = static_cast<long>(*timeout_us % 1'000'000 * 1000);
  }
  ::ppoll(on.data(), socket >= 0 ? 2 : 1, timeout_us ? &time : nullptr, nullptr);
  std::uint64_t times = 0;
  [[maybe_unused]] auto const read = ::read(descriptor_, &times, sizeof times);
}

}  // namespace nigh::platform
