// SPDX-License-Identifier: Apache-2.0
// Clocks of ranks that go differently are compared, and never worse than told.

#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "cluster/clocks.hpp"

namespace {

using namespace nigh::cluster;

constexpr int rank_count = 3;
constexpr std::int64_t ahead_ns[rank_count] = {7'000'000'000, -3'000'000'000, 7'000'000'000};

// Ranks that are threads; what one says takes a while.
class Room final : public Transport {
 public:
  struct Shared {
    std::barrier<> all{rank_count};
    std::vector<bytes> said = std::vector<bytes>(rank_count);
  };
  Room(Shared& shared, int rank) : shared_(shared), rank_(rank), random_(static_cast<unsigned>(rank)) {}

  int rank() const noexcept override { return rank_; }
  int ranks() const noexcept override { return rank_count; }
  std::string name() const override { return "a room"; }
  bool is_funneled() const noexcept override { return false; }
  void send(int, byte_view) override {}
  Arrived receive() override { return {}; }
  std::vector<bytes> gather(byte_view mine) override {
    dawdle();
    shared_.said[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
    shared_.all.arrive_and_wait();
    auto heard = shared_.said;
    shared_.all.arrive_and_wait();
    dawdle();
    return heard;
  }
  void finish() override {}

 private:
  void dawdle() { std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200)); }

  Shared& shared_;
  int const rank_;
  std::minstd_rand random_;
};

TEST(Clocks, AreNoFartherApartThanTold) {
  Room::Shared shared;
  ClockOffset found[rank_count];
  {
    std::vector<std::jthread> threads;
    for (int r = 0; r < rank_count; ++r)
      threads.emplace_back([&, r] {
        Room room(shared, r);
        found[r] = compare_clocks(room, [r] {
          return std::chrono::steady_clock::now().time_since_epoch().count() + ahead_ns[r];
        });
      });
  }
  for (int r = 0; r < rank_count; ++r) {
    auto const wrong = std::llabs(found[r].to_rank_0_ns - (ahead_ns[0] - ahead_ns[r]));
    EXPECT_LE(wrong, found[r].error_ns) << r;
    EXPECT_LT(found[r].error_ns, 1'000'000'000) << r;
  }
  EXPECT_EQ(found[0].to_rank_0_ns, 0);
  EXPECT_EQ(found[0].error_ns, 0);
}

}  // namespace
