// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "platform/own_path.hpp"
#include "platform/owned_file.hpp"
#include "temporary_folder.hpp"

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OwnPath : public ::testing::Test {
 protected:
  OwnPath() { std::ofstream(victim()) << "dear"; }

  fs::path victim() const { return directory / "victim"; }
  fs::path file() const { return directory / "file"; }
  static unsigned mode_of(fs::path const& path) {
    struct stat what{};
    return ::stat(path.c_str(), &what) == 0 ? what.st_mode & 0777U : 0;
  }
  // Why it is no file of ours; empty: it is.
  static std::string refusal(fs::path const& path) {
    auto const opened = OwnedFile::open(path);
    return opened ? std::string() : opened.message();
  }

  test::TemporaryFolder const folder;
  fs::path const directory = folder.path();
};

TEST_F(OwnPath, AFileIsForItsUserAlone) {
  EXPECT_EQ(refusal(file()), "");
  EXPECT_EQ(mode_of(file()), 0600U);
  fs::permissions(file(), fs::perms::all);
  EXPECT_EQ(refusal(file()), "");
  EXPECT_EQ(mode_of(file()), 0600U);
}

TEST_F(OwnPath, TemporaryFilesAreForTheirUserAloneAndHaveNamesOfTheirOwn) {
  auto const first = make_temporary_file(directory, "some."),
             second = make_temporary_file(directory, "some.");
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(first->parent_path(), directory);
  EXPECT_EQ(first->filename().string().rfind("some.", 0), 0U);
  EXPECT_EQ(mode_of(*first), 0600U);
  EXPECT_EQ(fs::file_size(*first), 0U);
  EXPECT_EQ(make_temporary_file(directory / "missing", "some.").message(),
            "No such file or directory");
}

TEST_F(OwnPath, LinksAndOtherThingsAreNotOpened) {
  fs::create_symlink(victim(), file());
  EXPECT_EQ(refusal(file()), "it is a symbolic link");
  fs::remove(file());
  fs::create_hard_link(victim(), file());
  EXPECT_EQ(refusal(file()), "it has another name, too");
  fs::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_EQ(refusal(file()), "it is no regular file");
  EXPECT_EQ(fs::file_size(victim()), 4U);
}

TEST_F(OwnPath, AnotherUsersFileIsNotOpened) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr unsigned nobody = 65534;
  ASSERT_EQ(::chown(victim().c_str(), nobody, nobody), 0);
  EXPECT_THAT(refusal(victim()), HasSubstr("belongs to another user"));
  EXPECT_EQ(fs::file_size(victim()), 4U);
}

TEST_F(OwnPath, ANewFileTakesTheLinksPlace) {
  fs::create_symlink(victim(), file());
  auto made = make_new_file(file(), 0600);
  ASSERT_TRUE(made);
  EXPECT_FALSE(fs::is_symlink(file()));
  EXPECT_EQ(fs::file_size(file()), 0U);
  EXPECT_EQ(fs::file_size(victim()), 4U);
  // Another one gives the name to another file before anything is written.
  fs::rename(file(), directory / "moved");
  fs::create_symlink(victim(), file());
  std::fputs("for the new file alone", made->get());
  EXPECT_TRUE(is_closed_well(std::move(made).value()));
  EXPECT_EQ(fs::file_size(victim()), 4U);
  EXPECT_EQ(fs::file_size(directory / "moved"), 22U);
  EXPECT_FALSE(make_new_directory(file()));
}

TEST_F(OwnPath, APrivateDirectoryIsNotBelowOneOfOthers) {
  auto const own = directory / "run" / "nigh";
  fs::create_directory(directory / "run");
  ASSERT_EQ(::chmod((directory / "run").c_str(), 0777), 0);
  auto const refused = make_private_directory(own);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.message(), HasSubstr("run lets other users replace"));
  ASSERT_EQ(::chmod((directory / "run").c_str(), 01777), 0);
  EXPECT_TRUE(make_private_directory(own)) << "nobody can rename what is in /tmp";
  ASSERT_EQ(::chmod((directory / "run").c_str(), 0755), 0);
  EXPECT_TRUE(make_private_directory(own));
}

}  // namespace
}  // namespace nigh::platform
