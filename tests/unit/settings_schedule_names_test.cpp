// SPDX-License-Identifier: Apache-2.0
#include "settings/schedule_names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nigh::settings {
namespace {

TEST(ScheduleNames, ReadBackAsTheyAreWritten) {
  for (char const* text : {"static", "static,16", "static,1", "dynamic", "dynamic,4", "guided",
                           "guided,8", "adaptive", "local"}) {
    auto const words = parse_schedule(text);
    ASSERT_TRUE(words.ok()) << text;
    EXPECT_EQ(to_string(words->kind, words->chunk), text);
  }
}

TEST(ScheduleNames, AreRefusedWithTheReason) {
  for (char const* text : {"", "Static", "dynamic,", "dynamic,0", "dynamic,-1", "dynamic,4x",
                           "static, 4", "adaptive,4", "local,2", "guided,99999999999999999999"}) {
    auto const words = parse_schedule(text);
    ASSERT_FALSE(words.ok()) << text;
    EXPECT_NE(words.message().find('"' + std::string(text) + '"'), std::string::npos) << text;
  }
  EXPECT_EQ(parse_schedule("dynamic,0").message(),
            "schedule \"dynamic,0\": \"0\" is no positive number of iterations");
  EXPECT_EQ(parse_schedule("auto").message(),
            "schedule \"auto\": \"auto\" is none of static, dynamic, guided, adaptive, local");
}

}  // namespace
}  // namespace nigh::settings
