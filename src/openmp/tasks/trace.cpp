// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/trace.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "platform/ending_signals.hpp"
#include "platform/thread.hpp"

namespace nigh::openmp::tasks {

constinit TracedProcess traced{};

namespace {

constinit sync::atomic<bool> is_watched{false};

// The library for regions has one, too, which takes those who call it for libraries with thread
// pools.
platform::CreateThread* libcs_pthread_create() noexcept {
  for (char const* const library : {"libpthread.so.0", "libc.so.6"}) {
    void* const object = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (object == nullptr) continue;
    void* const found = dlsym(object, "pthread_create");
    dlclose(object);
    if (found != nullptr) return reinterpret_cast<platform::CreateThread*>(found);
  }
  return ::pthread_create;
}

}  // namespace

Activity Track::turn_to(Activity next) noexcept {
  auto const time = base::now_ns();
  auto const before = now();
  auto& ns = sums_[before].ns;
  auto const took = static_cast<std::uint64_t>(time - since_.load(sync::relaxed));
  ns.store(ns.load(sync::relaxed) + took, sync::relaxed);
  since_.store(time, sync::relaxed);
  now_.store(next, sync::relaxed);
  return before;
}

void Track::add(Traced event) noexcept {
  auto const n = events_.load(sync::relaxed);
  auto& slot = ring_[n % capacity];
  slot.time.store(since_.load(sync::relaxed), sync::relaxed);
  slot.event.store(event, sync::relaxed);
  events_.store(n + 1, sync::relaxed);
}

std::uint64_t Track::ns(Activity a, std::int64_t until) const noexcept {
  auto const sum = sums_[a].ns.load(sync::relaxed);
  auto const open = a == now() ? until - since_.load(sync::relaxed) : 0;
  return sum + static_cast<std::uint64_t>(std::max<std::int64_t>(open, 0));
}

Traced Track::event(std::uint64_t n, std::int64_t& time_ns) const noexcept {
  auto const& slot = ring_[n % capacity];
  time_ns = slot.time.load(sync::relaxed);
  return slot.event.load(sync::relaxed);
}

Activity Track::activity_of(void const* code) noexcept {
  constexpr std::size_t codes = activities - first_task;
  auto const bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(code));
  auto at = static_cast<std::size_t>((bits * 0x9e3779b97f4a7c15U) >> 40U) % codes;
  for (int probe = 0; probe < 16; ++probe, at = (at + 1) % codes) {
    auto& sum = sums_[first_task + at];
    auto const* const there = sum.code.load(sync::relaxed);
    if (there == nullptr) sum.code.store(code, sync::relaxed);
    if (there == nullptr || there == code) return static_cast<Activity>(first_task + at);
  }
  return other_tasks;
}

void Track::begin_region(Track* around) noexcept {
  if (around != nullptr) around->interrupted_ = around->turn_to(outside);
  turn_to(own_part);
  add({TraceEvent::region, 0, 0, 0});
}

void Track::end_region(Track* around) noexcept {
  turn_to(outside);
  add({TraceEvent::end, 0, 0, 0});
  if (around != nullptr) around->turn_to(around->interrupted_);
}

Activity Track::begin_task(void const* code, bool is_anothers) noexcept {
  auto const which = activity_of(code);
  auto& times = sums_[which].times;
  times.store(times.load(sync::relaxed) + 1, sync::relaxed);
  auto const before = turn_to(which);
  if (is_anothers) add({TraceEvent::task, 0, 0, which});
  return before;
}

void Track::end_task(Activity before, bool is_anothers) noexcept {
  turn_to(before);
  if (is_anothers) add({TraceEvent::end, 0, 0, 0});
}

void Track::stole(std::uint32_t victim, level from, std::uint32_t tasks) noexcept {
  auto const l = static_cast<std::uint8_t>(from);
  visits_[l].store(visits_[l].load(sync::relaxed) + 1, sync::relaxed);
  add({TraceEvent::steal, l, static_cast<std::uint16_t>(victim), tasks});
}

void Track::search() noexcept {
  auto& rounds = sums_[searching].times;
  rounds.store(rounds.load(sync::relaxed) + 1, sync::relaxed);
  if (now() == searching) return;
  bool const has_slept = now() == asleep;
  turn_to(searching);
  if (has_slept) add({TraceEvent::end, 0, 0, 0});
  add({TraceEvent::search, 0, 0, 0});
}

void Track::sleep() noexcept {
  turn_to(asleep);
  add({TraceEvent::end, 0, 0, 0});
  add({TraceEvent::sleep, 0, 0, 0});
}

void Track::end_wait(Activity before) noexcept {
  if (now() != searching && now() != asleep) return;
  turn_to(before);
  add({TraceEvent::end, 0, 0, 0});
}

void Track::forget() noexcept {
  for (auto& sum : sums_) {
    sum.times.store(0, sync::relaxed);
    sum.ns.store(0, sync::relaxed);
  }
  for (auto& v : visits_) v.store(0, sync::relaxed);
  events_.store(0, sync::relaxed);
}

void begin_trace() noexcept {
  char const* const file = getenv("NIGH_TRACE");
  if (file == nullptr || *file == '\0') return;
  traced = {strdup(file), base::now_ns(), getpid()};
}

void trace_child() noexcept {
  forget_writing();
  traced.zero_ns = base::now_ns();
  for_each_track([](Track& t, void*) { t.forget(); }, nullptr);
}

Track* new_track(bool is_nested) noexcept {
  if (traced.file == nullptr) return nullptr;
  if (!is_watched.exchange(true, sync::relaxed))
    platform::before_ending_signals(write_trace, libcs_pthread_create());
  void* const room = platform::map_zeroes(sizeof(Track));
  return room == nullptr ? nullptr : new (room) Track(is_nested);
}

}  // namespace nigh::openmp::tasks
