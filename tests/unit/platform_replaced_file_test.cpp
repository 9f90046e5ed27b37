// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "platform/replaced_file.hpp"
#include "temporary_folder.hpp"

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;

class ReplacedFile : public ::testing::Test {
 protected:
  ReplacedFile() { std::ofstream(file) << "dear\n"; }

  static std::string text_of(fs::path const& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static unsigned mode_of(fs::path const& path) {
    struct stat what{};
    return ::stat(path.c_str(), &what) == 0 ? what.st_mode & 0777U : 0;
  }
  fs::path part() const {
    for (auto const& entry : fs::directory_iterator(folder.path()))
      if (entry.path().extension() == ".part") return entry.path();
    return {};
  }

  test::TemporaryFolder const folder;
  fs::path const file = folder.path() / "file";
};

TEST_F(ReplacedFile, IsForItsUserAloneUntilItHasTheModeOfTheOldOne) {
  fs::permissions(file, fs::perms(0640));
  auto made = Replacement::beside(file);
  ASSERT_TRUE(made);
  EXPECT_EQ(mode_of(part()), 0600U);
  std::fputs("new\n", made->file());
  ASSERT_TRUE(made->put_in_place());
  EXPECT_EQ(text_of(file), "new\n");
  EXPECT_EQ(mode_of(file), 0640U);
  EXPECT_EQ(part(), fs::path());
}

TEST_F(ReplacedFile, StaysAsItWasWhereTheNewOneIsGivenUp) {
  { ASSERT_TRUE(Replacement::beside(file)); }
  EXPECT_EQ(text_of(file), "dear\n");
  EXPECT_EQ(part(), fs::path());
}

TEST_F(ReplacedFile, IsNoneThatADescriptorHasOpen) {
  EXPECT_FALSE(open_stream(file));
  int const descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  auto const name = std::to_string(descriptor);
  for (auto const& path : {"/dev/fd/" + name, "/proc/self/fd/" + name,
                           "/proc/" + std::to_string(::getpid()) + "/fd/" + name}) {
    auto opened = open_stream(path);
    ASSERT_TRUE(opened) << path;
    std::fputs("more\n", opened.get());
    EXPECT_TRUE(is_closed_well(std::move(opened)));
  }
  ::close(descriptor);
  EXPECT_EQ(text_of(file), "dear\nmore\nmore\nmore\n");
}

TEST_F(ReplacedFile, IsNoneWhereTheStandardErrorGoes) {
  int const before = ::dup(STDERR_FILENO);
  int const log = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ::dup2(log, STDERR_FILENO);
  auto const opened = open_stream(file);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(log);
  EXPECT_TRUE(opened);
}

}  // namespace
}  // namespace nigh::platform
