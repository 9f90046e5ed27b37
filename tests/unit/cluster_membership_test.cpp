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

TEST(Membership, HasTheRootAndEachOtherRankListenToOneAnother) {
  Membership root(0, 4, true, 0), other(2, 4, true, 0);
  EXPECT_THAT(root.listeners(), ElementsAre(1, 2, 3));
  root.lose(1);
  EXPECT_THAT(root.listeners(), ElementsAre(2, 3));
  EXPECT_THAT(other.listeners(), ElementsAre(0));
}

// Looks each 100 of a limit of 1000.
TEST(Membership, MissesSilentRanksThatAreNotLost) {
  Membership root(0, 4, true, 1000), other(2, 4, true, 1000);
  EXPECT_TRUE(root.must_beat());
  root.lose(3);
  for (int now = 0; now < 1000; now += 100) {
    EXPECT_THAT(root.listen(now), IsEmpty());
    EXPECT_THAT(other.listen(now), IsEmpty());
    root.heard(2);
  }
  EXPECT_THAT(root.listen(1000), ElementsAre(1)) << "rank 2 was heard, rank 3 is lost";
  EXPECT_THAT(other.listen(1000), ElementsAre(0)) << "it listens to the root alone";
}

TEST(Membership, MissesNobodyWhereALossEndsAll) {
  Membership root(0, 2, false, 1000);
  EXPECT_FALSE(root.must_beat());
  for (int now = 0; now < 5000; now += 100) EXPECT_THAT(root.listen(now), IsEmpty());
}

TEST(Membership, PartsOnceAllWantToOrAreLost) {
  Membership root(0, 3, true, 0);
  root.parts(0, 1);
  EXPECT_FALSE(root.decides_to_part());
  root.parts(1, 1);
  EXPECT_FALSE(root.decides_to_part());
  root.lose(2);
  EXPECT_TRUE(root.decides_to_part());
  EXPECT_TRUE(root.has_parted());
  EXPECT_FALSE(root.decides_to_part()) << "all are told once";
  Membership other(1, 3, true, 0);
  other.parts(1, 1);
  EXPECT_FALSE(other.decides_to_part()) << "the root does";
  other.root_has_parted();
  EXPECT_TRUE(other.has_parted());
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

TEST(Silence, IsTimeThatWasListenedTo) {
  Silence silence(3, 1000);
  EXPECT_THAT(silence.listen(1, 3, 5000), IsEmpty()) << "it begins";
  EXPECT_THAT(silence.listen(1, 3, 1'000'000), IsEmpty()) << "100 at a look, no more";
  for (int i = 1; i < 9; ++i) EXPECT_THAT(silence.listen(1, 3, 1'000'000 + 100 * i), IsEmpty());
  silence.heard(2);
  EXPECT_THAT(silence.listen(1, 3, 1'000'900), ElementsAre(1));
  Silence never(2, 0);
  for (int i = 0; i < 100; ++i) EXPECT_THAT(never.listen(0, 2, i * 1000), IsEmpty());
}

}  // namespace
