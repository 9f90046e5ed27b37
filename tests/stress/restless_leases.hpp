// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leases that change as long as this lives: other cpus, none for a while, nobody who grants any.
// With --leases 1, rounds are played among such.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "arguments.hpp"
#include "scripted_leases.hpp"

namespace stress {

class RestlessLeases {
 public:
  explicit RestlessLeases(std::uint64_t seed)
      : script_({0}), thread_([this, seed] { run(seed); }) {}
  ~RestlessLeases() {
    ends_ = true;
    thread_.join();
  }
  RestlessLeases(RestlessLeases&&) = delete;

 private:
  static constexpr int cpus = 16;

  void run(std::uint64_t seed) {
    std::mt19937_64 random(seed ^ 0x1ea5e5);
    while (!ends_) {
      switch (random() % 8) {
        case 0:
          script_.grant({});
          break;
        case 1:
          script_.withhold();
          break;
        default:
          std::vector<int> some;
          auto const bits = random() & random();
          for (int c = 0; c < cpus; ++c)
            if ((bits >> c & 1) != 0) some.push_back(c);
          script_.grant(some);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
    }
    script_.grant({});
  }

  nigh::tests::LeaseScript script_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

template <class Round>
int play_leased(int argc, char** argv, std::uint64_t rounds_per_scale, Round round) {
  bool const leased = parse(argc, argv).leases > 0;
  return play(argc, argv, rounds_per_scale, [&](std::uint64_t seed, std::uint64_t scale) {
    std::optional<RestlessLeases> leases;
    if (leased) leases.emplace(seed);
    round(seed, scale);
  });
}

}  // namespace stress
