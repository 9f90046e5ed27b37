// SPDX-License-Identifier: Apache-2.0
#include "settings/learnt_spreads.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nigh::settings {
namespace {

TEST(LearntSpreads, KeepOneOfEachNameAndNumberOfWorkers) {
  LearntSpreads lines{"m"};
  lines.put({"a", 2, {{1, 1, 2}, 0.5}});
  lines.put({"a", 4, {{1, 1, 4}, 0.5}});
  lines.put({"a", 2, {{1, 2, 2}, 0.25}});
  LearntSpreads read;
  EXPECT_EQ(parse_spreads(text_of(lines), "m", read), "");
  ASSERT_EQ(read.sites.size(), 2U);
  EXPECT_EQ(read.sites[1].found.held, (policy::SpreadConfig{1, 2, 2}));
  EXPECT_EQ(read.sites[1].found.seconds, 0.25);
  LearntSpreads other;
  EXPECT_EQ(parse_spreads(text_of(lines), "n", other),
            "is for another machine, and not used: m, this one is n");
}

TEST(LearntSpreads, AreRefusedWithTheReason) {
  LearntSpreads lines{"m"};
  lines.put({"a", 2, {{1, 1, 2}, 0.5}});
  auto const whole = text_of(lines);
  auto const why_not = [](std::string const& text) {
    LearntSpreads read;
    return parse_spreads(text, read);
  };
  EXPECT_EQ(why_not(whole), "");
  EXPECT_EQ(why_not(""), "is no file of spreads, and not used");
  EXPECT_EQ(why_not(R"({"nigh_spreads": 2, "machine")"),
            "is of version 2, and not used: this nigh reads 1");
  EXPECT_EQ(why_not(whole + "x"), "is damaged, and not used");
  for (auto length = whole.find(',') + 1; length < whole.size(); ++length)
    EXPECT_EQ(why_not(whole.substr(0, length)), "is damaged, and not used") << length;
}

TEST(LearntSpreads, AreOfSitesWithPlainNames) {
  EXPECT_TRUE(is_site_name("sweep of u, \xc3\xa4"));
  for (auto const* name : {"a\"b", "a\\b", "a\nb", "\x7f"}) EXPECT_FALSE(is_site_name(name));
}

}  // namespace
}  // namespace nigh::settings
