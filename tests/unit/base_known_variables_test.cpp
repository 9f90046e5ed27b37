// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/known_variables.hpp"

namespace nigh::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KnownVariables, AreAllThatNighReads) {
  for (std::string const name : known_variables) EXPECT_THAT(unknown_variables({name}), IsEmpty());
  for (std::string const name : inner_variables) EXPECT_THAT(unknown_variables({name}), IsEmpty());
}

TEST(KnownVariables, OthersWithTheirPrefixAreNot) {
  EXPECT_THAT(unknown_variables(
                  {"PATH", "NIGH_WORKRES", "NIGH_WORKERS", "nigh_workers", "NIGHT_ON", "NIGH_"}),
              ElementsAre("NIGH_WORKRES", "NIGH_"));
}

// Of module systems, and of nigh's own tests.
TEST(KnownVariables, SomeAreNoConcernOfPrograms) {
  EXPECT_THAT(
      unknown_variables({"NIGH_ROOT", "NIGH_HOME", "NIGH_REQUIRE_HOSTS", "NIGH_TEST_LEASES"}),
      IsEmpty());
}

TEST(KnownVariables, TheNearestIsMeant) {
  EXPECT_EQ(unknown_variable("NIGH_WORKRES"),
            "NIGH_WORKRES is no variable that nigh knows; did you mean 'NIGH_WORKERS'?");
  EXPECT_EQ(unknown_variable("NIGH_NUM_THREADS"),
            "NIGH_NUM_THREADS is no variable that nigh knows; docs/environment.md lists them");
}

}  // namespace
}  // namespace nigh::base
