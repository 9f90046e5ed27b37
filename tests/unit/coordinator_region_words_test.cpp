// SPDX-License-Identifier: Apache-2.0
// The knowledge of regions, in a page.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "coordinator/protocol/region_word.hpp"
#include "coordinator/protocol/trial_runs.hpp"

namespace nigh::coordinator {
namespace {

TEST(RegionWords, SayWhatTheyWereTold) {
  auto const words = std::make_unique<RegionWords>();
  EXPECT_EQ(words->find(0x4000).word(), RegionWord());
  words->set({.region = 0x4000, .maximum = 1024, .limit = 1024, .trial = last_trial, .size = 1024});
  auto const most = words->find(0x4000).word();
  EXPECT_EQ(most.maximum(), 1024U);
  EXPECT_TRUE(most.is_limited());
  EXPECT_EQ(most.trial(), last_trial);
  EXPECT_EQ(most.size(), 1024U);
  words->set({.region = 0x4000, .maximum = 3});
  auto const changed = words->find(0x4000).word();
  EXPECT_EQ(changed.maximum(), 3U);
  EXPECT_FALSE(changed.is_limited());
  EXPECT_EQ(changed.trial(), 0U);
  EXPECT_EQ(changed.size(), 0U);
  EXPECT_EQ(words->find(0x4001).word(), RegionWord());
}

// Numbers as programs have them: addresses close to each other, and libraries in the high bits.
TEST(RegionWords, KeepAsManyRegionsAsAreLearntAbout) {
  auto const words = std::make_unique<RegionWords>();
  std::vector<RegionId> ids;
  for (RegionId library : {0U, 1U, 77U, 0x7fffU})
    for (RegionId i = 0; i < 64; ++i) ids.push_back(library << 48 | (0x3d000 + 0x60 * i));
  for (std::size_t i = 0; i < ids.size(); ++i)
    words->set({.region = ids[i], .maximum = 1 + static_cast<std::uint32_t>(i)});
  for (std::size_t i = 0; i < ids.size(); ++i)
    ASSERT_EQ(words->find(ids[i]).word().maximum(), 1 + i) << std::hex << ids[i];
}

TEST(RegionWords, OfTooManyRegionsSomeAreNotKnown) {
  auto const words = std::make_unique<RegionWords>();
  std::mt19937_64 random(3);
  std::vector<RegionId> ids(2000);
  for (auto& id : ids) id = random();
  for (auto id : ids) words->set({.region = id, .maximum = 1 + static_cast<std::uint32_t>(id % 9)});
  auto const known = std::count_if(ids.begin(), ids.end(), [&](RegionId id) {
    auto const word = words->find(id).word();
    EXPECT_TRUE(word == RegionWord() || word.maximum() == 1 + id % 9);
    return word != RegionWord();
  });
  EXPECT_GE(known, 500);
}

// As often one way as the other, of regions that repeat after any few runs, too.
TEST(TrialRuns, FollowNoRhythm) {
  int own = 0, reported[2] = {};
  for (std::uint32_t run = 0; run < TrialRuns::count; ++run) {
    own += TrialRuns::has_its_team(run);
    if (TrialRuns::is_reported(run)) ++reported[TrialRuns::has_its_team(run)];
  }
  EXPECT_EQ(own, 8);
  EXPECT_EQ(reported[0], 5);
  EXPECT_EQ(reported[1], 5);
  for (std::uint32_t period = 2; period <= 7; ++period) {
    bool kinds[2][8] = {};  // which runs of the period each team meets
    for (std::uint32_t run = 0; run < TrialRuns::count; ++run)
      if (TrialRuns::is_reported(run)) kinds[TrialRuns::has_its_team(run)][run % period] = true;
    for (auto& met : kinds) EXPECT_GE(std::count(met, met + period, true), 2) << period;
  }
}

TEST(RegionWords, TellWhetherTheirAdviceIsUnchanged) {
  auto const words = std::make_unique<RegionWords>();
  EXPECT_FALSE(RegionWords::Seen().is_unchanged());
  auto const nothing = words->find(7);
  EXPECT_TRUE(nothing.is_unchanged());
  words->set({.region = 7, .maximum = 3});
  EXPECT_FALSE(nothing.is_unchanged());
  auto const three = words->find(7);
  EXPECT_EQ(three.word().maximum(), 3U);
  words->set({.region = 8, .maximum = 5});
  EXPECT_TRUE(three.is_unchanged());
  words->set({.region = 7, .maximum = 4});
  EXPECT_FALSE(three.is_unchanged());
  EXPECT_EQ(words->find(7).word().maximum(), 4U);
}

}  // namespace
}  // namespace nigh::coordinator
