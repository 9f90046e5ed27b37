// SPDX-License-Identifier: Apache-2.0
#include "runtime/visits.hpp"

#include <algorithm>

#include "runtime/current.hpp"

namespace nigh::tasks {

thread_local Visits visits;

Visits::~Visits() {
  forget_those_of_the_parent();
  auto const is_open = [](Visit const& visit) { return visit.seat != nullptr; };
  for (;;) {  // tasks that run here may open others
    auto const visit = std::find_if(open_.begin(), open_.end(), is_open);
    if (visit == open_.end()) return;
    auto& seat = *visit->seat;
    {
      AtSeat const here(seat);
      seat.host.finish_down_to(seat, seat.stack.slots);
    }
    close(seat);
  }
}

// After fork(): the seats are those of another process.
void Visits::forget_those_of_the_parent() noexcept {
  auto const now = detail::forks_so_far();
  if (process_ != now) open_ = {};
  process_ = now;
}

Worker* Visits::find(detail::scheduler const& host) noexcept {
  forget_those_of_the_parent();
  for (auto const& visit : open_)
    if (visit.seat != nullptr && &visit.seat->host == &host && visit.who == me()) return visit.seat;
  return nullptr;
}

Worker* Visits::find_or_open(nigh_task_queue& queue) noexcept {
  if (auto* const seat = find(queue.host)) return seat;
  for (auto& visit : open_) {
    if (visit.seat != nullptr) continue;
    auto* const seat = queue.host.take_seat();
    if (seat == nullptr) return nullptr;
    visit = {seat, me(), queue.own != nullptr ? &queue : nullptr};
    if (visit.queue != nullptr) queue.visitors.fetch_add(1, sync::relaxed);
    return seat;
  }
  return nullptr;
}

void Visits::close(Worker const& seat) noexcept {
  for (auto& visit : open_) {
    if (visit.seat != &seat) continue;
    auto* const queue = visit.queue;
    seat.host.leave_seat(*visit.seat);
    visit = {};
    // The queue may be freed by another thread from here on.
    if (queue != nullptr) queue->visitors.fetch_sub(1, sync::release);  // (L)
    return;
  }
}

}  // namespace nigh::tasks
