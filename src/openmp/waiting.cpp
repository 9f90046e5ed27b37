// SPDX-License-Identifier: Apache-2.0
#include "openmp/waiting.hpp"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <array>
#include <string_view>

#include "openmp/ballast.hpp"
#include "openmp/process.hpp"
#include "policy/team_waiting.hpp"

namespace nigh::openmp {

constinit sync::atomic<std::uint32_t> calm_runtimes{0};

namespace {

using policy::Waiting;

// Written before the program runs.
constinit bool adapts = false;
constinit bool is_passive = false;

// Of a runtime. A thread that finds another one at it leaves it alone.
// (A) `is_busy` is a lock.
struct State {
  sync::atomic<bool> is_busy{false};
  policy::TeamWaiting waiting{};
  Ballast* ballast = nullptr;
  std::uint32_t threads = 0;  // of the ballast
  bool has_room = true;       // for it
};
constinit std::array<State, most_runtimes> states{};

// Not more than a large host has; they are others' to make, too.
constexpr std::uint32_t most_ballast = 512;

std::string_view value_of(char const* name) noexcept {
  char const* const value = getenv(name);
  return value == nullptr ? "" : value;
}

// Milliseconds do.
std::uint64_t about_now_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

bool is_coordinated(Lease const& lease) noexcept {
  return lease.size > 0 || (lease.fallback != coordinator::FallbackReason::no_coordinator &&
                            lease.fallback != coordinator::FallbackReason::foreign_version);
}

policy::Crowd crowd(Thread const& me, Lease const& lease, std::uint32_t threads) noexcept {
  policy::Crowd c{.threads = threads,
                  .granted = lease.size,
                  .allowed = process().cpus,
                  .is_coordinated = is_coordinated(lease)};
  if (me.preemptions_per_s > 0) {
    c.programs = programs_served();
    c.preemptions_per_s = me.preemptions_per_s;
  }
  return c;
}

bool is_libgomp(Runtime const& runtime) noexcept { return runtime.global_thread_num == nullptr; }

void drop_ballast(State& s) noexcept {
  if (s.ballast != nullptr) end(s.ballast);
  s.ballast = nullptr;
  s.threads = 0;
}

void add_ballast(State& s, Runtime const& runtime, std::uint32_t threads) noexcept {
  auto const needed = policy::ballast_threads(threads, process().cpus);
  if (needed <= s.threads || !s.has_room) return;
  drop_ballast(s);
  bool const may_have = needed <= most_ballast && needed < INT_MAX &&
                        runtime.thread_limit() > static_cast<int>(needed);
  if (may_have) s.ballast = begin_ballast(runtime, needed);
  s.has_room = s.ballast != nullptr;
  s.threads = s.has_room ? needed : 0;
}

// The program's own word, said meanwhile, holds.
void set_blocktime(Thread& me, Runtime const& runtime, Waiting now) noexcept {
  if (runtime.blocktime == nullptr || runtime.set_blocktime == nullptr) return;
  if (now == Waiting::calm && me.calmed == nullptr) {
    me.blocktime = runtime.blocktime();
    if (me.blocktime <= 0 || me.blocktime == INT_MAX) return;
    runtime.set_blocktime(0);
    me.calmed = &runtime;
  } else if (now == Waiting::quick && me.calmed == &runtime) {
    if (runtime.blocktime() == 0) runtime.set_blocktime(me.blocktime);
    me.calmed = nullptr;
  }
}

}  // namespace

void begin_waiting() noexcept {
  std::size_t ours = 0, said = 0;
  for (auto const& setting : policy::waiting_settings) {
    auto const value = value_of(setting.name.data());
    ours += value == setting.value ? 1U : 0U;
    said += value.empty() ? 0U : 1U;
  }
  bool const are_ours = ours == policy::waiting_settings.size();
  adapts = (said == 0 || are_ours) && value_of("KMP_LIBRARY").empty();
  is_passive = !are_ours && strcasecmp(value_of("OMP_WAIT_POLICY").data(), "passive") == 0;
}

bool waits_passively() noexcept { return is_passive; }

void drop_waiting() noexcept {
  calm_runtimes.store(0, sync::relaxed);
  for (auto& s : states) {  // there is one thread, and what these had is the parent's
    s.waiting = policy::TeamWaiting();
    s.ballast = nullptr;
    s.threads = 0;
    s.has_room = true;
    s.is_busy.store(false, sync::relaxed);
  }
  this_thread.calmed = nullptr;
}

void look_at_waiting(Thread& me, Runtime const& runtime, Lease const& lease,
                     std::uint32_t threads) noexcept {
  if (!adapts) return;
  bool const crowded = is_crowded(crowd(me, lease, threads));
  if (!crowded && calm_runtimes.load(sync::relaxed) == 0 && me.calmed == nullptr) return;
  State& s = states[runtime.number];
  if (s.is_busy.exchange(true, sync::acquire)) return;  // (A)
  auto const before = s.waiting.now();
  auto const now = s.waiting.next(crowded, programs_served(), about_now_ns());
  if (before != now) calm_runtimes.fetch_add(now == Waiting::calm ? 1 : UINT32_MAX, sync::relaxed);
  if (!is_libgomp(runtime))
    set_blocktime(me, runtime, now);
  else if (crowded)
    add_ballast(s, runtime, threads);
  else if (now == Waiting::quick)
    drop_ballast(s);
  s.is_busy.store(false, sync::release);  // (A)
}

void watch_preemptions(Thread& me, std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t second_ns = 1'000'000'000, every_ns = second_ns / 4;
  auto const passed_ns = now_ns - me.watched_ns;
  if (passed_ns < every_ns || !adapts) return;
  rusage used;
  if (getrusage(RUSAGE_THREAD, &used) != 0) return;
  auto const count = static_cast<std::uint64_t>(used.ru_nivcsw);
  if (me.watched_ns != 0) {
    auto const per_s = (count - me.preemptions) * second_ns / passed_ns;
    bool const is_often = per_s > policy::WaitingPolicy{}.preemptions_per_s;
    me.preemptions_per_s = is_often ? static_cast<std::uint32_t>(per_s) : 0;
  }
  me.preemptions = count;
  me.watched_ns = now_ns;
}

}  // namespace nigh::openmp
