// SPDX-License-Identifier: Apache-2.0
#include "platform/event_set.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace nigh::platform {
namespace {

constexpr std::int64_t granularity_us = 1000;
constexpr std::int64_t longest_us = std::int64_t{1} << 50;

std::int64_t now_us() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_nsec / 1000;
}

}  // namespace

result<EventSet> EventSet::make() {
  EventSet set(::epoll_create1(EPOLL_CLOEXEC),
               ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (set.descriptor_ < 0 || set.timer_ < 0) return error{std::strerror(errno)};
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;  // nobody has to read it
  event.data.u64 = EventSet::reserved_name;
  if (::epoll_ctl(set.descriptor_, EPOLL_CTL_ADD, set.timer_, &event) != 0)
    return error{std::strerror(errno)};
  return set;
}

EventSet::EventSet(EventSet&& from) noexcept
    : descriptor_(std::exchange(from.descriptor_, -1)),
      timer_(std::exchange(from.timer_, -1)),
      due_us_(from.due_us_) {}

EventSet::~EventSet() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (timer_ >= 0) ::close(timer_);
}

result<void> EventSet::change(int how, int descriptor, std::uint64_t name, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = name;
  if (::epoll_ctl(descriptor_, how, descriptor, &event) != 0) return error{std::strerror(errno)};
  return {};
}

result<void> EventSet::add(int descriptor, std::uint64_t name) {
  if (name == reserved_name) return error{"this name is the event set's own"};
  return change(EPOLL_CTL_ADD, descriptor, name, EPOLLIN);
}

result<void> EventSet::await_room(int descriptor, std::uint64_t name) {
  return change(EPOLL_CTL_MOD, descriptor, name, EPOLLOUT);
}

void EventSet::remove(int descriptor) noexcept {
  ::epoll_ctl(descriptor_, EPOLL_CTL_DEL, descriptor, nullptr);
}

void EventSet::set_timer(std::int64_t due_us) noexcept {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(due_us / 1'000'000);
  when.it_value.tv_nsec = static_cast<long>(due_us % 1'000'000 * 1000);
  ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
  due_us_ = due_us;
}

std::span<std::uint64_t const> EventSet::wait(std::optional<std::int64_t> timeout_us) {
  if (timeout_us && *timeout_us <= 0) return look(0);
  auto const until = timeout_us ? now_us() + std::min(*timeout_us, longest_us) : longest_us;
  for (;;) {
    if (timeout_us && (!due_us_ || *due_us_ > until + granularity_us))
      set_timer(until + granularity_us / 2);
    bool const was_set = due_us_.has_value();
    auto const happened = look(-1);
    bool const is_timer = was_set && !due_us_;
    if (!happened.empty() || !is_timer || (timeout_us && now_us() >= until)) return happened;
  }
}

std::span<std::uint64_t const> EventSet::look(int timeout_ms) {
  std::array<epoll_event, 64> events;
  static_assert(events.size() == std::tuple_size_v<decltype(names_)>);
  int const count =
      ::epoll_wait(descriptor_, events.data(), static_cast<int>(events.size()), timeout_ms);
  std::size_t happened = 0;
  for (int i = 0; i < count; ++i) {
    auto const name = events[static_cast<std::size_t>(i)].data.u64;
    if (name == reserved_name)
      due_us_.reset();
    else
      names_[happened++] = name;
  }
  return {names_.data(), happened};
}

}  // namespace nigh::platform
