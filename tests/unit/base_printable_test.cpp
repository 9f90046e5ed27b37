// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "base/printable.hpp"

namespace nigh::base {
namespace {

TEST(Printable, LeavesWhatPeopleRead) {
  for (auto const* text : {"", "solver", "a b\\c\"d", "caf\u00e9", "\u6f22\u5b57", "\U0001f600"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesControls) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\033]0;title\a\x7f"), "\\x1b]0;title\\x07\\u007f");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\u009b31m\u0085"), "\\u009b31m\\u0085");
}

TEST(Printable, EscapesMarksOfDirectionAndHiddenCharacters) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u061c"), "a\\u202eb\\u2066c\\u061c");
  EXPECT_EQ(printable("\u200b\u200f\u2028\u2029\u2060\ufeff"),
            "\\u200b\\u200f\\u2028\\u2029\\u2060\\ufeff");
  EXPECT_EQ(printable("\U000e0041"), "\\udb40\\udc41");
  EXPECT_EQ(printable("\u00ad\u034f\u115f\u1160\u17b5\u180b"),
            "\\u00ad\\u034f\\u115f\\u1160\\u17b5\\u180b");
  EXPECT_EQ(printable("\u2800\u3164\ufe0f\uffa0"), "\\u2800\\u3164\\ufe0f\\uffa0");
  EXPECT_EQ(printable("\U0001d173\U000e01ef"), "\\ud834\\udd73\\udb40\\uddef");
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\x80\xff"), "\\x80\\xff");
  EXPECT_EQ(printable("caf\xc3"), "caf\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond";
}

TEST(Printable, KeepsLinesWhereThereAreSeveral) {
  EXPECT_EQ(printable_lines("a\tb\nc\033[2J\r\n"), "a\tb\nc\\x1b[2J\\r\n");
}

// Every byte sequence of two bytes, behind each other: none reaches the terminal as a command.
TEST(Printable, LetsNoCommandThrough) {
  std::string all;
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) all += {static_cast<char>(a), static_cast<char>(b)};
  auto const shown = printable(all);
  for (std::string_view left = shown; !left.empty();) {
    auto const c = first_character(left);
    ASSERT_TRUE(c.is_printable);
    left.remove_prefix(c.bytes);
  }
  EXPECT_EQ(printable(shown), shown);
}

}  // namespace
}  // namespace nigh::base
