// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"

#include <gtest/gtest.h>

namespace nigh::base {
namespace {

TEST(LettersApart, CountsInsertedLeftOutReplacedAndSwappedLetters) {
  EXPECT_EQ(letters_apart("", ""), 0U);
  EXPECT_EQ(letters_apart("run", "run"), 0U);
  EXPECT_EQ(letters_apart("", "run"), 3U);
  EXPECT_EQ(letters_apart("runn", "run"), 1U);
  EXPECT_EQ(letters_apart("ru", "run"), 1U);
  EXPECT_EQ(letters_apart("ran", "run"), 1U);
  EXPECT_EQ(letters_apart("rnu", "run"), 1U);
  EXPECT_EQ(letters_apart("ca", "abc"), 3U);
  EXPECT_EQ(letters_apart("kitten", "sitting"), 3U);
}

TEST(NearestName, IsTheNearestOfThoseThatDifferInAThirdOfTheLetters) {
  std::vector<std::string> const names{"topo", "run", "tune", "trace", "top"};
  EXPECT_EQ(nearest_name("rnu", names), "run");
  EXPECT_EQ(nearest_name("tpoo", names), "topo");
  EXPECT_EQ(nearest_name("topp", names), "topo");  // the first of two
  EXPECT_EQ(nearest_name("tracing", names), "");
  EXPECT_EQ(nearest_name("cure", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("run", {}), "");
}

TEST(DidYouMean, SaysWhereNamesAreListedWhenNoneIsNear) {
  EXPECT_EQ(did_you_mean("rnu", {"run"}, "nigh help lists them"), "; did you mean 'run'?");
  EXPECT_EQ(did_you_mean("cure", {"run"}, "nigh help lists them"), "; nigh help lists them");
}

}  // namespace
}  // namespace nigh::base
