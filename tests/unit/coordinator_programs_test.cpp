// SPDX-License-Identifier: Apache-2.0
// Whole programs under the coordinator, in virtual time: which rule lets them all end soonest?
// (docs/decisions/0007)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "machines.hpp"

namespace nigh::coordinator {
namespace {

// One region, entered again and again, with some serial work between.
struct Workload {
  double serial_us = 0;
  double parallel_us = 0;
  double between_us = 0;
  int runs = 0;

  policy::ThreadDemand demand() const {
    return policy::demand_by_two({1, serial_us + parallel_us}, {32, serial_us + parallel_us / 32},
                                 32);
  }
};

std::vector<Workload> workloads(std::uint64_t seed, double shortest_us, double longest_us,
                                double work_us) {
  std::mt19937_64 random(seed);
  auto const uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<Workload> all(13);
  for (auto& w : all) {
    double const one_run = shortest_us * std::pow(longest_us / shortest_us, uniform());
    double const serial = 0.01 + 0.2 * std::pow(uniform(), 2);
    w = {one_run * serial, one_run * (1 - serial), one_run * 0.02 * uniform(),
         std::max(3, static_cast<int>(work_us / one_run * (0.5 + uniform())))};
  }
  return all;
}

// Programs do as the library in them is to: keep leases, and give them back between regions.
class PlayedHost {
 public:
  PlayedHost(std::vector<Workload> work, CoordinatorOptions options)
      : work_(std::move(work)),
        programs_(work_.size()),
        machine_(tests::core_map("sun-x4600"), options, 0) {}

  double seconds_until_all_have_ended() {
    Register hello;
    for (int c = 0; c < 32; ++c) hello.allowed.add(c);
    for (std::size_t p = 0; p < work_.size(); ++p) {
      step(Received{p, hello});
      agenda_.emplace(static_cast<Time>(100 * p), p);
    }
    while (machine_.programs() > 0) {
      auto const tick = machine_.next_tick();
      if (agenda_.empty() && !tick) return std::nan("");  // somebody waits for ever
      if (agenda_.empty() || (tick && *tick < agenda_.top().first)) {
        now_ = *tick;
        step(Tick{});
        continue;
      }
      auto const [time, p] = agenda_.top();
      agenda_.pop();
      now_ = std::max(now_, time);
      if (programs_[p].is_inside)
        leave(p);
      else
        enter(p);
    }
    return static_cast<double>(now_) * 1e-6;
  }

 private:
  static constexpr double change_of_team_us = 60;
  struct Program {
    LeaseId lease = 0;
    int threads = 0;
    std::uint32_t place = unknown_place;
    int runs = 0;
    bool is_inside = false;
    bool is_asked_back = false;
  };

  void enter(std::size_t p) {
    auto& program = programs_[p];
    if (program.lease != 0) return begin(p, 0);
    auto const demand = work_[p].demand();
    step(Received{p, Request{.ticket = 1,
                             .demand = {static_cast<std::uint32_t>(demand.maximum),
                                        static_cast<std::uint32_t>(demand.optimal)},
                             .place = program.place}});
  }
  void begin(std::size_t p, double first_us) {
    auto& program = programs_[p];
    program.is_inside = true;
    auto const& w = work_[p];
    agenda_.emplace(now_ + std::lround(first_us + w.serial_us + w.parallel_us / program.threads),
                    p);
  }
  void leave(std::size_t p) {
    auto& program = programs_[p];
    program.is_inside = false;
    if (++program.runs == work_[p].runs) return step(Lost{p});
    if (program.is_asked_back) give_back(p);
    agenda_.emplace(now_ + std::lround(work_[p].between_us), p);
  }
  void give_back(std::size_t p) {
    auto const lease = std::exchange(programs_[p].lease, LeaseId{0});
    programs_[p].is_asked_back = false;
    if (lease != 0) step(Received{p, Release{lease}});
  }
  void step(Event const& event) {
    for (Send const& s : machine_.step(event, now_)) {
      auto& program = programs_[s.to];
      if (auto const* grant = std::get_if<Grant>(&s.message)) {
        program.lease = grant->lease;
        program.threads = grant->team.size();
        program.place = static_cast<std::uint32_t>(grant->team[0]);
        begin(s.to, change_of_team_us);
      } else if (auto const* revoke = std::get_if<Revoke>(&s.message)) {
        if (revoke->lease != program.lease) continue;
        if (!is_for_good(revoke->reason) && program.is_inside) continue;
        if (revoke->reason == Revoke::Reason::ended) program.lease = 0;
        program.is_asked_back = program.lease != 0;
        if (program.is_asked_back && !program.is_inside) give_back(s.to);
      }
    }
  }

  using Entry = std::pair<Time, std::size_t>;
  std::vector<Workload> work_;
  std::vector<Program> programs_;
  Coordinator machine_;
  Time now_ = 0;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> agenda_;
};

double seconds(int least_percent, double shortest_us, double longest_us, double work_us) {
  CoordinatorOptions options;
  options.allocation.scarcity.least_percent = least_percent;
  options.claims_us = -1;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    sum += PlayedHost(workloads(seed, shortest_us, longest_us, work_us), options)
               .seconds_until_all_have_ended();
  return sum / 8;
}

TEST(Programs, EndSoonerWhenRegionsWaitForTheirEqualPart) {
  // Regions that take 1-50 ms, 0.1-2 ms and 50-2,000 ms with 32 threads.
  struct {
    double shortest_us, longest_us, work_us, of_shrinking;
  } const kinds[] = {{32e3, 1.6e6, 8e6, 0.9}, {3.2e3, 64e3, 8e6, 0.95}, {1.6e6, 64e6, 30e6, 0.9}};
  for (auto const& k : kinds) {
    double const shrinking = seconds(0, k.shortest_us, k.longest_us, k.work_us);
    double const equal_parts = seconds(100, k.shortest_us, k.longest_us, k.work_us);
    EXPECT_LT(equal_parts, k.of_shrinking * shrinking);
  }
}

}  // namespace
}  // namespace nigh::coordinator
