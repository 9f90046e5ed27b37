// SPDX-License-Identifier: Apache-2.0
// The program whose headers all programs of tests share, where they are precompiled: see nigh_test().
#include <gtest/gtest.h>

namespace {

TEST(Headers, AreCompiledOnce) {}

}  // namespace
