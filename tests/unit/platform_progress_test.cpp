// SPDX-License-Identifier: Apache-2.0
// The line that says how far a command is. Its terminal: tests/cli/progress_test.py.
#include <gtest/gtest.h>

#include "platform/progress.hpp"

namespace {

using nigh::platform::progress_line;
using nigh::platform::ProgressState;

TEST(ProgressLine, EstimatesByThePaceSoFar) {
  EXPECT_EQ(progress_line({5, 20, false, "tasks"}, 10, 0, 80),
            "[#####...............] 5 of 20, 30 s left  tasks");
  EXPECT_EQ(progress_line({5, 20, false, "tasks"}, 12, 2, 80),
            "[#####...............] 5 of 20, 28 s left  tasks");
}

TEST(ProgressLine, SaysTheTimeWhereItCannotEstimate) {
  EXPECT_EQ(progress_line({0, 4, false, "tasks"}, 3, 3, 80),
            "[....................] 0 of 4, 3 s  tasks");
  EXPECT_EQ(progress_line({0, 0, false, "table1"}, 12.4, 12.4, 80), "12 s  table1");
}

TEST(ProgressLine, SaysWhatIsABound) {
  EXPECT_EQ(progress_line({1, 4, true, "--threads 2", 700.0}, 5, 0, 80),
            "[#####...............] 1 of at most 4, at most 11 min left  --threads 2");
}

TEST(ProgressLine, IsShorterThanTheTerminalAndCannotCommandIt) {
  EXPECT_EQ(progress_line({0, 0, false, "\x1b[2Jgone"}, 3, 3, 80), "3 s  \\x1b[2Jgone");
  EXPECT_EQ(progress_line({0, 0, false, "\u00e4\u00f6\u00fc"}, 3, 3, 8), "3 s  \u00e4\u00f6");
  EXPECT_EQ(progress_line({1, 4, true, "--threads 2", 700.0}, 5, 0, 1), "");
}

}  // namespace
