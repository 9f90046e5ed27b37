// SPDX-License-Identifier: Apache-2.0
// The table of what was tried. Its effect on a team is asserted in src/openmp/team_size.hpp.

#include <gtest/gtest.h>

#include "openmp/libraries.hpp"
#include "openmp/team_size.hpp"

namespace {

using nigh::openmp::rule_of;
using nigh::openmp::TeamRule;

TEST(TeamRules, OfLibraries) {
  EXPECT_EQ(rule_of("/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0", false),
            TeamRule::whole);
  EXPECT_EQ(rule_of("libopenblasp-r0.3.21.so", false), TeamRule::whole);
  EXPECT_EQ(rule_of("/x/xgboost/lib/libxgboost.so", false), TeamRule::whole);
  EXPECT_EQ(rule_of("/usr/lib/libMagickCore-6.Q16.so.6", false), TeamRule::free);
  EXPECT_EQ(rule_of("/usr/lib/libGraphicsMagick-Q16.so.3", false), TeamRule::free);
  EXPECT_EQ(rule_of("/usr/lib/libtesseract.so.5", false), TeamRule::free);
  EXPECT_EQ(rule_of("/p/sklearn/ensemble/_hist_gradient_boosting/splitting.cpython-311.so", false),
            TeamRule::named);
  EXPECT_EQ(rule_of("/p/sklearn/ensemble/_gradient_boosting.cpython-311.so", false),
            TeamRule::unknown);
  EXPECT_EQ(rule_of("/usr/lib/libtesseractive.so", false), TeamRule::unknown);
  EXPECT_EQ(rule_of("/usr/lib/tesseract.so", false), TeamRule::unknown);
  EXPECT_EQ(rule_of("/lulesh/libx.so", false), TeamRule::unknown);
  EXPECT_EQ(rule_of("", false), TeamRule::unknown);
}

TEST(TeamRules, OfPrograms) {
  EXPECT_EQ(rule_of("/home/u/LULESH/lulesh2.0", true), TeamRule::whole);
  EXPECT_EQ(rule_of("/usr/bin/muscle", true), TeamRule::free);
  EXPECT_EQ(rule_of("/usr/bin/cd-hit-est", true), TeamRule::free);
  EXPECT_EQ(rule_of("/usr/bin/par2", true), TeamRule::free);
  EXPECT_EQ(rule_of("/usr/bin/par2x", true), TeamRule::unknown);
  EXPECT_EQ(rule_of("/usr/bin/par2", false), TeamRule::unknown);
  EXPECT_EQ(rule_of("/opt/libtesseract.so/solver", true), TeamRule::unknown);
  EXPECT_EQ(rule_of("", true), TeamRule::unknown);
}

}  // namespace
