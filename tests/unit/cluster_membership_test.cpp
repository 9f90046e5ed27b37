// SPDX-License-Identifier: Apache-2.0
// Which ranks take part: lost, silent, parting.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/membership.hpp"

namespace {

using namespace nigh::cluster;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Membership, LosesARankOnce) {
  Membership ranks(1, 4, true, 0);
  EXPECT_TRUE(ranks.lose(2));
  EXPECT_FALSE(ranks.lose(2));
  EXPECT_TRUE(ranks.is_lost(2));
  EXPECT_THAT(ranks.left(), ElementsAre(0, 1, 3));
  ranks.parts(2, 7);
  EXPECT_TRUE(ranks.is_lost(2)) << "whatever comes from it later";
}

TEST(Membership, HasTheLowestRankForItsRootAndTheNextForItsDeputy) {
  Membership ranks(3, 4, true, 0);
  EXPECT_EQ(ranks.root(), 0);
  EXPECT_EQ(ranks.deputy(), 1);
  ranks.lose(1);
  EXPECT_EQ(ranks.deputy(), 2);
  ranks.lose(0);
  EXPECT_EQ(ranks.root(), 2);
  EXPECT_EQ(ranks.deputy(), 3);
  EXPECT_FALSE(ranks.is_root());
  ranks.lose(2);
  EXPECT_TRUE(ranks.is_root());
  EXPECT_EQ(ranks.deputy(), Membership::nobody);
}

TEST(Membership, HasRootDeputyAndEachOtherRankListenToOneAnother) {
  Membership root(0, 4, true, 0), deputy(1, 4, true, 0), other(2, 4, true, 0);
  EXPECT_THAT(root.listeners(), ElementsAre(1, 2, 3));
  EXPECT_THAT(deputy.listeners(), ElementsAre(0, 2, 3));
  EXPECT_THAT(other.listeners(), ElementsAre(0, 1));
  Membership alone(2, 4, false, 0);
  EXPECT_THAT(alone.listeners(), ElementsAre(0)) << "where a loss ends all there is no deputy";
}

// Looks each 100 of a limit of 1000.
TEST(Membership, MissesSilentRanksThatAreNotLost) {
  Membership root(0, 4, true, 1000), deputy(1, 4, true, 1000), other(2, 4, true, 1000);
  EXPECT_TRUE(root.must_beat());
  root.lose(3);
  for (int now = 0; now < 1000; now += 100) {
    for (auto* ranks : {&root, &deputy, &other}) {
      EXPECT_THAT(ranks->listen(now), IsEmpty());
      ranks->heard(3 - (ranks == &root));
    }
  }
  EXPECT_THAT(root.listen(1000), ElementsAre(1)) << "rank 2 was heard, rank 3 is lost";
  EXPECT_THAT(deputy.listen(1000), ElementsAre(0)) << "it decides about the root alone";
  EXPECT_THAT(other.listen(1000), IsEmpty()) << "it decides nothing";
  EXPECT_TRUE(other.is_cut_off());
  EXPECT_FALSE(deputy.is_cut_off());
}

// Others may have said nothing to this rank while it was neither root nor deputy.
TEST(Membership, CountsSilenceAnewForANewRoot) {
  Membership ranks(2, 4, true, 1000);
  for (int now = 0; now < 900; now += 100) {
    EXPECT_THAT(ranks.listen(now), IsEmpty());
    ranks.heard(0);
    ranks.heard(1);
  }
  ranks.lose(0);
  ranks.lose(1);
  for (int now = 900; now < 1800; now += 100) EXPECT_THAT(ranks.listen(now), IsEmpty());
  EXPECT_THAT(ranks.listen(1900), ElementsAre(3));
}

TEST(Membership, MissesNobodyWhereALossEndsAll) {
  Membership root(0, 2, false, 1000);
  EXPECT_FALSE(root.must_beat());
  for (int now = 0; now < 5000; now += 100) EXPECT_THAT(root.listen(now), IsEmpty());
}

TEST(Membership, PartsOnceAllWantToOrAreLost) {
  Membership ranks(0, 3, true, 0);
  ranks.parts(0, 1);
  EXPECT_FALSE(ranks.has_parted());
  ranks.parts(1, 1);
  EXPECT_FALSE(ranks.has_parted());
  ranks.lose(2);
  EXPECT_TRUE(ranks.has_parted());
  Membership where_a_loss_ends_all(0, 1, false, 0);
  where_a_loss_ends_all.parts(0, 1);
  EXPECT_FALSE(where_a_loss_ends_all.has_parted());
}

// The other one may have ended.
TEST(Membership, NeitherSpeaksNorListensToARankOnceBothPart) {
  Membership root(0, 3, true, 1000), deputy(1, 3, true, 1000);
  root.parts(1, 1);
  EXPECT_THAT(root.listeners_to_beats(), ElementsAre(1, 2));
  root.parts(0, 1);
  EXPECT_THAT(root.listeners_to_beats(), ElementsAre(2));
  deputy.parts(0, 1);
  EXPECT_THAT(deputy.listeners_to_beats(), ElementsAre(0, 2)) << "the root still listens";
  for (int now = 0; now < 1000; now += 100) {
    EXPECT_THAT(root.listen(now), IsEmpty());
    EXPECT_THAT(deputy.listen(now), IsEmpty());
  }
  EXPECT_THAT(root.listen(1000), ElementsAre(2)) << "rank 1 is as silent";
  EXPECT_THAT(deputy.listen(1000), ElementsAre(0)) << "it may need a word from it";
  deputy.parts(1, 1);
  EXPECT_THAT(deputy.listen(1100), IsEmpty());
}

TEST(Membership, KnowsWithoutWhichRankARunCannotBe) {
  Membership ranks(0, 3, false, 0);
  EXPECT_FALSE(ranks.missing_in(9));
  ranks.parts(0, 1);
  EXPECT_FALSE(ranks.missing_in(2)) << "this one does as it says";
  ranks.parts(2, 3);
  ranks.parts(1, 5);
  EXPECT_FALSE(ranks.missing_in(3));
  EXPECT_EQ(ranks.missing_in(4), 2);
}

TEST(Membership, HasTheLowestRanksThatAreLeftWork) {
  Membership ranks(3, 5, true, 0, 2);
  EXPECT_THAT(ranks.working(), ElementsAre(0, 1, 2));
  EXPECT_TRUE(ranks.has_spares());
  EXPECT_FALSE(ranks.works(3));
  ranks.lose(1);
  EXPECT_THAT(ranks.working(), ElementsAre(0, 2, 3)) << "a spare rank takes its place";
  ranks.lose(4);
  EXPECT_THAT(ranks.working(), ElementsAre(0, 2, 3)) << "a spare rank is lost";
  EXPECT_FALSE(ranks.works(4));
  ranks.lose(0);
  EXPECT_THAT(ranks.working(), ElementsAre(2, 3)) << "no more are left";
  Membership whole(0, 2, false, 0);
  EXPECT_THAT(whole.working(), ElementsAre(0, 1));
  EXPECT_FALSE(whole.has_spares());
}

TEST(Membership, IsAsLargeAsTheLatestSizeSays) {
  Membership zero(0, 4, true, 0), two(2, 4, true, 0);
  zero.resize(2);
  two.resize(3);
  EXPECT_TRUE(zero.take_size(two.size())) << "of the same time, the higher rank's";
  EXPECT_FALSE(two.take_size(SessionSize{1, 0, 2}));
  EXPECT_THAT(zero.working(), ElementsAre(0, 1, 2));
  EXPECT_FALSE(zero.take_size(two.size())) << "that is known";
  zero.resize(1);
  EXPECT_TRUE(two.take_size(zero.size())) << "a later one, though of a lower rank";
  EXPECT_THAT(two.working(), ElementsAre(0));
  two.resize(4);
  EXPECT_FALSE(two.has_spares());
}

TEST(Silence, IsTimeThatWasListenedTo) {
  Silence silence(3, 1000);
  EXPECT_THAT(silence.listen(5000), IsEmpty()) << "it begins";
  EXPECT_THAT(silence.listen(1'000'000), IsEmpty()) << "100 at a look, no more";
  for (int i = 1; i < 9; ++i) EXPECT_THAT(silence.listen(1'000'000 + 100 * i), IsEmpty());
  silence.heard(2);
  EXPECT_THAT(silence.listen(1'000'900), ElementsAre(0, 1));
  Silence never(2, 0);
  for (int i = 0; i < 100; ++i) EXPECT_THAT(never.listen(i * 1000), IsEmpty());
}

}  // namespace
