// SPDX-License-Identifier: Apache-2.0
#include "platform/event_set.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <utility>

namespace nigh::platform {

result<EventSet> EventSet::make() {
  int const descriptor = ::epoll_create1(EPOLL_CLOEXEC);
  if (descriptor < 0) return error{std::strerror(errno)};
  return EventSet(descriptor);
}

EventSet::EventSet(EventSet&& from) noexcept : descriptor_(std::exchange(from.descriptor_, -1)) {}

EventSet::~EventSet() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

result<void> EventSet::add(int descriptor, std::uint64_t name) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = name;
  if (::epoll_ctl(descriptor_, EPOLL_CTL_ADD, descriptor, &event) != 0)
    return error{std::strerror(errno)};
  return {};
}

void EventSet::remove(int descriptor) noexcept {
  ::epoll_ctl(descriptor_, EPOLL_CTL_DEL, descriptor, nullptr);
}

std::span<std::uint64_t const> EventSet::wait(std::optional<std::int64_t> timeout_us) {
  std::array<epoll_event, 64> events;
  static_assert(events.size() == std::tuple_size_v<decltype(names_)>);
  int timeout_ms = -1;  // rounded up, or we would look too early, again and again
  if (timeout_us)
    timeout_ms = static_cast<int>(std::clamp<std::int64_t>((*timeout_us + 999) / 1000, 0, INT_MAX));
  int const count =
      ::epoll_wait(descriptor_, events.data(), static_cast<int>(events.size()), timeout_ms);
  auto const happened = static_cast<std::size_t>(std::max(0, count));
  for (std::size_t i = 0; i < happened; ++i) names_[i] = events[i].data.u64;
  return {names_.data(), happened};
}

}  // namespace nigh::platform
