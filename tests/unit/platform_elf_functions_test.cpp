// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "platform/elf_functions.hpp"

extern "C" __attribute__((noinline, used)) int nigh_test_defined(int n) { return n + 1; }

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;

constexpr char const* self = "/proc/self/exe";
constexpr std::array defined{"nigh_test_nowhere", "nigh_test_defined"};
// One that is imported, and a part of the name of one that is there.
constexpr std::array undefined{"nigh_test_nowhere", "getpid", "nigh_test_define"};

TEST(ElfFunctions, AreThoseOfTheProgramItself) {
  EXPECT_GT(::getpid(), 0);
  EXPECT_EQ(defines_any(self, defined), Defined::yes);
  EXPECT_EQ(defines_any(self, undefined), Defined::no);
}

TEST(ElfFunctions, AreUnknownWithoutSymbols) {
  EXPECT_EQ(defines_any("/nonexistent", defined), Defined::unknown);
  EXPECT_EQ(defines_any("/", defined), Defined::unknown);
  EXPECT_EQ(defines_any("/dev/null", defined), Defined::unknown);
  EXPECT_EQ(defines_any("/etc/passwd", defined), Defined::unknown);
}

TEST(ElfFunctions, SurviveHalfFiles) {
  std::ifstream in(self, std::ios::binary);
  std::string const whole{std::istreambuf_iterator<char>(in), {}};
  auto const part = fs::temp_directory_path() / ("nigh-half-elf." + std::to_string(::getpid()));
  for (std::size_t const size :
       {std::size_t{0}, std::size_t{3}, std::size_t{64}, whole.size() / 2, whole.size() - 100}) {
    std::ofstream(part, std::ios::binary) << whole.substr(0, size);
    EXPECT_NE(defines_any(part.c_str(), undefined), Defined::yes) << size;
  }
  // Tables that lie outside.
  auto torn = whole;
  for (std::size_t at = 40; at < 48; ++at) torn[at] = '\xff';
  std::ofstream(part, std::ios::binary) << torn;
  EXPECT_EQ(defines_any(part.c_str(), defined), Defined::unknown);
  fs::remove(part);
}

}  // namespace
}  // namespace nigh::platform
