// SPDX-License-Identifier: Apache-2.0
#pragma once
// TeamWaiting: how do the threads of a team wait for each other, and for the next region?
//
//   quick ──the team is crowded──▶ calm ──not crowded for some time──▶ quick
//
// quick: as the runtime waits by itself, which is to spin for a while. calm: threads sleep at once,
// so that the cpu goes to a thread that works. A program that is alone is never crowded. External
// load does not make a team crowded either: beside it the team waits as without nigh, for whether
// sleeping is better depends on what that load does.

#include <array>
#include <cstdint>
#include <string_view>

namespace nigh::policy {

enum class Waiting : std::uint8_t { quick, calm };

struct WaitingPolicy {
  // Other programs give cpus back and take them every 10 to 50 ms, or pause for a second. Changing
  // each time would cost more than it saves.
  std::uint64_t calm_alone_ns = 100'000'000;
  std::uint64_t calm_beside_others_ns = 2'000'000'000;
  std::uint32_t preemptions_per_s = 40;
};

// The facts when a region begins.
struct Crowd {
  std::uint32_t threads = 1;            // of the team
  std::uint32_t granted = 0;            // cpus; 0: none, the team runs where it finds room
  std::uint32_t allowed = 1;            // cpus that the process may use
  bool is_coordinated = false;          // there is a coordinator
  std::uint32_t programs = 0;           // that it serves
  std::uint32_t preemptions_per_s = 0;  // of the thread that begins the region
};

constexpr bool is_crowded(Crowd const& c, WaitingPolicy const& policy = {}) noexcept {
  if (!c.is_coordinated || c.threads <= 1) return false;
  if (c.granted == 0) return true;
  // On all cpus that the process may use, the team is placed as without a coordinator.
  if (c.granted < c.allowed && c.granted < c.threads) return true;
  return c.programs > 1 && c.preemptions_per_s > policy.preemptions_per_s;
}

class TeamWaiting {
 public:
  constexpr TeamWaiting() noexcept = default;
  constexpr explicit TeamWaiting(WaitingPolicy policy) noexcept : policy_(policy) {}

  constexpr Waiting now() const noexcept { return now_; }

  // When a region begins. `programs`: those that the coordinator serves.
  constexpr Waiting next(bool crowded, std::uint32_t programs, std::uint64_t now_ns) noexcept {
    auto const lasts_ns = programs > 1 ? policy_.calm_beside_others_ns : policy_.calm_alone_ns;
    if (crowded) {
      crowded_ns_ = now_ns;
      now_ = Waiting::calm;
    } else if (now_ns - crowded_ns_ >= lasts_ns) {
      now_ = Waiting::quick;
    }
    return now_;
  }

 private:
  WaitingPolicy policy_{};
  std::uint64_t crowded_ns_ = 0;
  Waiting now_ = Waiting::quick;
};

// `nigh run` sets the first before a program starts, unless the user has said by one of these
// variables how threads wait. libomp's would spin for 200 ms after a region. Not OMP_WAIT_POLICY=passive:
// libomp would leave threads asleep while tasks wait for one.
inline constexpr std::array<std::string_view, 4> waiting_variables{
    "KMP_BLOCKTIME", "KMP_LIBRARY", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY"};
inline constexpr std::string_view blocktime_variable = waiting_variables[0], blocktime_ms = "1";
// Beside it: it is nigh's, and gives way to what a script below `nigh run` says by the others.
inline constexpr std::string_view own_blocktime_variable = "NIGH_BLOCKTIME";

// libgomp's threads sleep at once, instead of spinning, while libgomp has more threads than cpus.
// The number of additional threads that reach this; 0: it is so already. `threads`: of the team,
// and no more.
constexpr std::uint32_t ballast_threads(std::uint32_t threads, std::uint32_t cpus) noexcept {
  return threads > cpus ? 0 : cpus + 1 - threads;
}

static_assert(ballast_threads(2, 2) == 1 && ballast_threads(3, 2) == 0);
static_assert(ballast_threads(1, 8) == 8 && ballast_threads(8, 8) == 1);

}  // namespace nigh::policy
