// SPDX-License-Identifier: Apache-2.0
#include "openmp/printable_name.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nigh::openmp {
namespace {

std::string shown(std::string const& name) { return PrintableName(name).text(); }

TEST(PrintableName, HasNothingThatATerminalObeys) {
  EXPECT_EQ(shown("solver \u00e4"), "solver \u00e4");
  EXPECT_EQ(shown("\033[31mred\n\xff"), "\\x1b[31mred\\x0a\\xff");
  EXPECT_EQ(shown("a\u202e"), "a\\xe2\\x80\\xae");
  EXPECT_LT(shown(std::string(5000, '\a')).size(), 256U);
  EXPECT_EQ(shown(std::string(5000, 'x')).find_first_not_of('x'), std::string::npos);
}

}  // namespace
}  // namespace nigh::openmp
