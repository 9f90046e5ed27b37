// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "coordinator/profile/profile_files.hpp"
#include "platform/binary_identity.hpp"
#include "platform/owned_file.hpp"
#include "temporary_folder.hpp"

namespace nigh::coordinator {
namespace {

namespace fs = std::filesystem;

ProgramProfile example() {
  return {
      .program = "npb-cg",
      .path = "/usr/bin/npb-cg",
      .binary = 0x27c4fd7b4eb79b1c,
      .cpus = 8,
      .regions = {{.id = 0x3df60,
                   .where = "cg.cpp:120",
                   .source = Source::learnt,
                   .demand = {8, 4},
                   .times = {{1, 240'000, 3}, {4, 61'000, 9}}},
                  {.id = 0x4000, .source = Source::given, .demand = {2, 2}},
                  {.id = 0xffffffffffffffff, .source = Source::measured, .times = {{8, 1, 1}}}}};
}

class ProfileFiles : public testing::Test {
 protected:
  void save(ProgramProfile const& profile) {
    auto const saved = change_profile(directory_, profile.program, profile.binary,
                                      [&](ProgramProfile& p) { p = profile; });
    ASSERT_TRUE(saved) << saved.message();
  }
  void write(fs::path const& file, std::string const& text) {
    fs::create_directories(directory_);
    std::ofstream(file, std::ios::binary) << text;
  }
  std::string read(fs::path const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  test::TemporaryFolder const folder_;
  fs::path const directory_ = folder_.path() / "state" / "profiles";
};

std::string refusal(std::string const& text) {
  auto const parsed = parse_profile(text);
  return parsed ? "" : parsed.message();
}

std::string with(std::string text, std::string_view what, std::string_view instead) {
  auto const at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

TEST(RegionProfile, IsReadAsWritten) {
  auto const parsed = parse_profile(profile_text(example()));
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(*parsed, example());
  EXPECT_EQ(region_name(0x3df60), "0x3df60");
  EXPECT_EQ(parse_region("0x3df60"), 0x3df60U);
  for (char const* wrong : {"", "0x", "3df60", "0x3df6g", "0x11111111111111111", "0x-1"})
    EXPECT_FALSE(parse_region(wrong)) << wrong;
}

TEST(RegionProfile, TellsOfScriptsAndLibraries) {
  auto profile = example();
  profile.interpreter = "/usr/bin/python3.11";
  profile.is_library = true;
  profile.regions[0].is_indifferent = true;
  profile.regions[0].demand = {};
  profile.regions[0].times[1].spread_ns = 2000;
  auto const text = profile_text(profile);
  auto const parsed = parse_profile(text);
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(*parsed, profile);
  EXPECT_FALSE(parse_profile(with(text, "\"library\":true", "\"library\":1")));
}

TEST(RegionProfile, HasNamesThatAreNoText) {
  auto profile = example();
  profile.program = "a\xff\"\\b";
  auto const parsed = parse_profile(profile_text(profile));
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(parsed->program, "a\xef\xbf\xbd\"\\b");
}

TEST(RegionProfile, SaysWhatIsWrong) {
  auto const good = profile_text(example());
  EXPECT_EQ(refusal(good), "");
  EXPECT_EQ(refusal("[]"), "is no profile of a program's regions");
  EXPECT_EQ(refusal(with(good, ":1,", ":2,")), "is a profile in format 2; this nigh reads 1");
  EXPECT_EQ(refusal(with(good, "27c4", "27g4")),
            "is damaged: binary is no identity of 16 hexadecimal digits");
  EXPECT_EQ(refusal(with(good, "\"maximum\":8", "\"maximum\":3")),
            "is damaged: maximum is less than optimal, or one is missing");
  EXPECT_EQ(refusal(with(good, "\"maximum\":8", "\"maximum\":1025")),
            "is damaged: maximum is no number from 1 to 1024");
  EXPECT_EQ(refusal(with(good, "\"optimal\":4,", "")),
            "is damaged: maximum is less than optimal, or one is missing");
  EXPECT_EQ(refusal(with(good, "learnt", "guessed")),
            "is damaged: source is none of learnt, measured, given");
  EXPECT_EQ(refusal(with(good, "0x4000", "0x3df60")), "is damaged: region 0x3df60 comes twice");
  EXPECT_EQ(refusal(with(good, "\"threads\":4", "\"threads\":1")),
            "is damaged: times are not by threads");
  EXPECT_EQ(refusal(with(good, "npb-cg", "npb\\u0007cg")),
            "is damaged: program is too long, or no plain text");
}

// The format's value is shown to people, by functions that call themselves for each level.
TEST(RegionProfile, IsRefusedWhenItIsNestedDeeply) {
  std::string const open(2'000'000, '['), close(2'000'000, ']');
  EXPECT_EQ(refusal("{\"nigh_region_profile\":" + open + close + '}'),
            "is nested deeper than 8 levels");
}

TEST(RegionProfile, IsRefusedWhenItsValuesWouldTakeMuchMemory) {
  std::string text = "{\"nigh_region_profile\":1,\"regions\":[{}";
  while (text.size() < 8'000'000) text += ",{}";
  EXPECT_EQ(refusal(text + "]}"), "has more values than a file of its size should have");
}

// Text that nighd writes itself is dense, and read again.
TEST(RegionProfile, MayHaveManyTimes) {
  auto profile = example();
  auto const region = profile.regions.front();
  profile.regions.clear();
  for (RegionId id = 1; id <= 400; ++id) {
    profile.regions.push_back(region);
    profile.regions.back().id = id;
    profile.regions.back().times.clear();
    for (std::uint32_t t = 1; t <= 256; ++t)
      profile.regions.back().times.push_back({t, 1 + t, 9, 1});
  }
  auto const text = profile_text(profile);
  EXPECT_GT(text.size(), largest_profile / 2);
  EXPECT_LE(text.size(), largest_profile);
  auto const parsed = parse_profile(text);
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(*parsed, profile);
}

TEST(RegionProfile, IsRefusedWhenItIsCut) {
  auto const whole = profile_text(example());
  for (std::size_t size = 0; size + 1 < whole.size(); ++size)
    EXPECT_FALSE(parse_profile(std::string_view(whole).substr(0, size))) << size;
}

// Any text is handled: no crash, and accepted text is written as it was read.
TEST(RegionProfile, SurvivesAnyBytes) {
  auto const whole = profile_text(example());
  std::mt19937_64 random(1);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto text = whole;
    for (auto n = 1 + random() % 3; n > 0; --n)
      text[random() % text.size()] =
          static_cast<char>(random() % 4 == 0 ? random() : '0' + random() % 10);
    auto const parsed = parse_profile(text);
    if (!parsed) continue;
    ++accepted;
    auto const again = parse_profile(profile_text(*parsed));
    ASSERT_TRUE(again && *again == *parsed) << text;
  }
  EXPECT_GT(accepted, 0);
  EXPECT_EQ(refusal(std::string(7, '[')), "is cut or damaged: no JSON");
}

TEST_F(ProfileFiles, AreWhereTheyAreLookedFor) {
  EXPECT_TRUE(profile_files(directory_).empty());
  save(example());
  auto const file = profile_file(directory_, "npb-cg", example().binary);
  EXPECT_EQ(file, directory_ / "npb-cg-27c4fd7b4eb79b1c.json");
  EXPECT_EQ(profile_file(directory_, "another-name", example().binary), file);
  EXPECT_EQ(profile_file(directory_, "../a b", 1), directory_ / "_.._a_b-0000000000000001.json");
  EXPECT_EQ(profile_files(directory_), std::vector{file});
  auto const read = read_profile(file);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(**read, example());
  ASSERT_TRUE(remove_profile(file));
  auto const gone = read_profile(file);
  ASSERT_TRUE(gone);
  EXPECT_FALSE(*gone);
}

TEST_F(ProfileFiles, AreNotOverwrittenWhenDamaged) {
  auto const file = directory_ / "a-0000000000000001.json";
  auto const text = profile_text(example());
  write(file, text.substr(0, text.size() / 2));
  auto const changed = change_profile(directory_, "a", 1, [](ProgramProfile& p) { p.cpus = 4; });
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.message(), file.string() + " is cut or damaged: no JSON");
  EXPECT_EQ(read(file), text.substr(0, text.size() / 2));
}

TEST_F(ProfileFiles, AreChangedInTurns) {
  save(example());
  auto const taken = platform::OwnedFile::open(directory_ / ".lock");
  ASSERT_TRUE(taken && *taken);
  auto const changed = change_profile(
      directory_, "npb-cg", example().binary, [](ProgramProfile&) { FAIL(); },
      std::chrono::milliseconds(0));
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.message(), (directory_ / ".lock").string() + ": another process has it");
}

TEST_F(ProfileFiles, ThatCannotBeWrittenAreNamed) {
  write(directory_ / "plain", "");
  auto const changed =
      change_profile(directory_ / "plain" / "x", "a", 1, [](ProgramProfile& p) { p.cpus = 4; });
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.message().find("plain/x cannot be made: "), std::string::npos)
      << changed.message();
  fs::create_directory(directory_ / "a-0000000000000001.json");
  auto const directory = read_profile(directory_ / "a-0000000000000001.json");
  ASSERT_FALSE(directory);
  EXPECT_NE(directory.message().find("is no regular file"), std::string::npos);
}

TEST_F(ProfileFiles, OfNoUseAnyMoreAreRemoved) {
  auto const age = [&](std::uint64_t binary, int hours) {
    fs::last_write_time(profile_file(directory_, "npb-cg", binary),
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  auto profile = example();
  profile.binary = 1;
  save(profile);  // the oldest, but something in it is given
  profile.regions.resize(1);
  for (std::uint64_t binary = 2; binary <= 5; ++binary) {
    profile.binary = binary;
    save(profile);
  }
  for (std::uint64_t binary = 1; binary <= 5; ++binary) age(binary, static_cast<int>(10 - binary));
  keep_newest(directory_, 3, UINT64_MAX);
  EXPECT_EQ(profile_files(directory_), (std::vector{profile_file(directory_, "npb-cg", 1),
                                                    profile_file(directory_, "npb-cg", 4),
                                                    profile_file(directory_, "npb-cg", 5)}));
}

// 1,000 files of eight megabytes are eight gigabytes.
TEST_F(ProfileFiles, AreNoMoreThanSoManyBytesTogether) {
  auto profile = example();
  profile.regions.resize(1);
  std::uint64_t bytes = 0;
  for (std::uint64_t binary = 1; binary <= 4; ++binary) {
    profile.binary = binary;
    save(profile);
    auto const file = profile_file(directory_, "npb-cg", binary);
    bytes = fs::file_size(file);
    fs::last_write_time(
        file, fs::file_time_type::clock::now() - std::chrono::hours(10 - static_cast<int>(binary)));
  }
  keep_newest(directory_, 100, 2 * bytes + 1);
  EXPECT_EQ(profile_files(directory_), (std::vector{profile_file(directory_, "npb-cg", 3),
                                                    profile_file(directory_, "npb-cg", 4)}));
}

TEST_F(ProfileFiles, AreInTheStateDirectory) {
  ::setenv("NIGH_PROFILES", "/a/b", 1);
  EXPECT_EQ(own_profiles(), "/a/b");
  EXPECT_EQ(shared_profiles(), "/a/b");
  ::unsetenv("NIGH_PROFILES");
  ::setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(own_profiles(), "/state/nigh/profiles");
  ::setenv("XDG_STATE_HOME", "not absolute", 1);
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(own_profiles(), "/home/me/.local/state/nigh/profiles");
  ::unsetenv("HOME");
  EXPECT_EQ(own_profiles(), "");
  EXPECT_EQ(shared_profiles(), "/var/lib/nigh/profiles");
  ::setenv("STATE_DIRECTORY", "/var/lib/elsewhere", 1);
  EXPECT_EQ(shared_profiles(), "/var/lib/elsewhere/profiles");
}

TEST_F(ProfileFiles, AreOfABinary) {
  auto const mine = platform::own_identity();
  EXPECT_NE(mine, 0U);
  auto const copy = directory_ / "copy";
  fs::create_directories(directory_);
  fs::copy_file("/proc/self/exe", copy);
  EXPECT_EQ(platform::binary_identity(copy.c_str()), mine);
  auto const bytes = read(copy);
  for (std::size_t size : {0U, 16U, 64U, 200U, 500U}) {
    write(copy, bytes.substr(0, size));
    EXPECT_EQ(platform::binary_identity(copy.c_str()), 0U) << size;
  }
  EXPECT_EQ(platform::binary_identity("/nowhere"), 0U);
  EXPECT_EQ(platform::binary_identity("/tmp"), 0U);
}

// Without a build id the file itself is what is known: another time, another binary.
TEST_F(ProfileFiles, AreOfAFileWhereThereIsNoBuildId) {
  auto const copy = directory_ / "copy";
  fs::create_directories(directory_);
  auto bytes = read("/proc/self/exe");
  constexpr std::string_view note{"\x03\0\0\0GNU", 8};  // type of the build id, name
  auto const at = bytes.find(note);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 99;
  write(copy, bytes);
  auto const before = platform::binary_identity(copy.c_str());
  EXPECT_NE(before, 0U);
  EXPECT_NE(before, platform::own_identity());
  EXPECT_EQ(platform::binary_identity(copy.c_str()), before);
  fs::last_write_time(copy, fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_NE(platform::binary_identity(copy.c_str()), before);
}

}  // namespace
}  // namespace nigh::coordinator
