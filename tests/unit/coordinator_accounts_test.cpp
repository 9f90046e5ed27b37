// SPDX-License-Identifier: Apache-2.0
// The coordinator's accounts of programs: the cpus they hold, their waits, the energy they have
// used.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator_ledger.hpp"
#include "stepped_coordinator.hpp"

namespace nigh::coordinator {
namespace {

using test::cpus;

// Two packages of four cpus.
class Accounts : public testing::Test {
 protected:
  Accounts() {
    for (Connection const c : {1u, 2u})
      step(Received{c, Register{.pid = static_cast<std::uint32_t>(c), .allowed = cpus(0, 8)}});
  }
  void step(Event const& event) { sent_ = machine_.step(event, now_); }
  LeaseId ask(Connection c, std::uint32_t threads, RegionId region, std::uint32_t place) {
    step(Received{c, Request{.region = region, .demand = {threads, threads}, .place = place}});
    for (Send const& s : sent_)
      if (auto const* grant = std::get_if<Grant>(&s.message)) return grant->lease;
    return 0;
  }
  Status about(std::uint32_t program) {
    step(Received{9, Query{program}});
    return std::get<Status>(sent_.at(0).message);
  }
  void used(std::uint64_t first_uj, std::uint64_t second_uj) {
    step(Energy{{{cpus(0, 4), first_uj}, {cpus(4, 8), second_uj}}});
  }

  Time now_ = 1'000'000;
  Coordinator machine_{test::small_machine({4, 4}), {}, now_};
  std::vector<Send> sent_;
};

TEST_F(Accounts, TellWhichCpusAreHeldAndForWhat) {
  ask(1, 3, 7, 4);
  auto const status = about(1);
  EXPECT_EQ(status.holds, cpus(4, 7));
  EXPECT_EQ(status.held, 3u);
  EXPECT_EQ(status.granted, 1u);
  EXPECT_EQ(status.region, 7u);
  EXPECT_TRUE(about(2).holds.empty());
  EXPECT_EQ(about(2).region, 0u);
}

TEST_F(Accounts, TellWhoseProcessAProgramIs) {
  step(Received{3, Register{.pid = 30, .allowed = cpus(0, 8)}, 1001, 123'456});
  auto const status = about(3);
  EXPECT_EQ(status.pid, 30u);
  EXPECT_EQ(status.user, 1001u);
  EXPECT_EQ(status.started, 123'456u);
}

TEST_F(Accounts, TellTheSameOfAllProgramsTogether) {
  ask(1, 3, 7, 4);
  ask(2, 1, 8, 0);
  ask(1, 1, 9, 3);
  auto const all = machine_.statuses();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], about(1));
  EXPECT_EQ(all[0].held, 4u);
  EXPECT_EQ(all[0].region, 9u) << "of its newest lease";
  EXPECT_EQ(all[1], about(2));
  EXPECT_EQ(all[2], about(3)) << "the host alone";
}

TEST_F(Accounts, TellOfWhoWaitsWhatItAsksFor) {
  ask(1, 8, 7, 0);
  EXPECT_EQ(ask(2, 3, 5, 0), 0u);
  now_ += 40;
  auto const waiting = about(2);
  EXPECT_EQ(waiting.region, 5u);
  EXPECT_EQ(waiting.wanted, 3u);
  EXPECT_EQ(waiting.waiting_us, 40u);
  EXPECT_EQ(waiting.waited_us, 40u);
}

TEST_F(Accounts, AddUpTheTimesOfWaiting) {
  auto const all = ask(1, 8, 7, 0);
  ask(2, 8, 5, 0);
  now_ += 40;
  step(Received{1, Release{all}});
  EXPECT_EQ(about(2).waiting_us, 0u);
  EXPECT_EQ(about(2).waited_us, 40u);
  EXPECT_EQ(about(2).granted, 1u);
  now_ += 100;
  EXPECT_EQ(about(2).waited_us, 40u);
}

TEST_F(Accounts, TellWhatRunsHaveTaught) {
  ask(1, 4, 7, 0);
  EXPECT_EQ(about(1).learnt, Demand{});
  EXPECT_EQ(about(1).efficiency, 0u);
  for (int i = 0; i < 3; ++i) {  // half of it is serial
    step(Received{1, Report{7, 1, 1000}});
    step(Received{1, Report{7, 2, 750}});
  }
  EXPECT_EQ(about(1).learnt, (Demand{8, 1}));
  EXPECT_EQ(about(1).efficiency, 400u);  // speedup 1.6 with 4 threads
}

TEST_F(Accounts, FitIntoAMessageWhateverAProgramReports) {
  ask(1, 2, 7, 0);
  for (int const percent : {90, 100, 110, 90, 110}) {
    step(Received{1, Report{7, 4, 6'250'000ULL * static_cast<unsigned>(percent)}});
    step(Received{1, Report{7, 8, 8'125'000ULL * static_cast<unsigned>(percent)}});
  }
  EXPECT_TRUE(about(1).is_valid());
}

TEST_F(Accounts, NameCpusOfExternalLoad) {
  EXPECT_TRUE(about(0).external_load.empty());
  step(Load{cpus(6, 8)});
  EXPECT_EQ(about(0).external_load, cpus(6, 8));
}

TEST_F(Accounts, ShareEnergyByCpuTimeHeld) {
  EXPECT_EQ(about(0).measures_energy, 0);
  used(1000, 1000);  // since when, nobody knows
  EXPECT_EQ(about(0).measures_energy, 1);
  EXPECT_EQ(about(0).energy_uj, 0u);
  auto const lease = ask(1, 3, 7, 0);  // three of the first package's four
  ask(2, 2, 7, 4);
  now_ += 1000;
  step(Received{1, Release{lease}});
  now_ += 1000;
  used(8000, 8000);
  EXPECT_EQ(about(0).energy_uj, 16000u);
  EXPECT_EQ(about(1).used_uj, 3000u);  // 3/4 of it for half of the time
  EXPECT_EQ(about(2).used_uj, 4000u);
  now_ += 1000;
  used(500, 1000);
  EXPECT_EQ(about(0).energy_uj, 17500u);
  EXPECT_EQ(about(1).used_uj, 3000u) << "it has held nothing since";
  EXPECT_EQ(about(2).used_uj, 4500u);
}

TEST_F(Accounts, KeepWhatWasUsedWhenEnergyIsUnreadable) {
  used(0, 0);
  ask(1, 4, 7, 0);
  now_ += 1000;
  used(8000, 0);
  step(Energy{});
  EXPECT_EQ(about(1).used_uj, 8000u);
  EXPECT_EQ(about(1).measures_energy, 0);
  used(9000, 9000);
  EXPECT_EQ(about(0).energy_uj, 8000u) << "nobody looked meanwhile";
  EXPECT_EQ(about(0).measures_energy, 1);
}

}  // namespace
}  // namespace nigh::coordinator
