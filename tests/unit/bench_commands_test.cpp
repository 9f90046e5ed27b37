// SPDX-License-Identifier: Apache-2.0
// nigh bench coordinator --command: what is read of the command line, and what is compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/coordinator/commands.hpp"
#include "bench/options.hpp"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> words(std::string const& text) { return shell_words("--command", text); }

TEST(BenchCommands, AreSplitAsByAShell) {
  EXPECT_THAT(words("  a  b\tc "), ElementsAre("a", "b", "c"));
  EXPECT_THAT(words(R"(sh -c "echo 'a  b' \"\$x\" \n")"),
              ElementsAre("sh", "-c", R"(echo 'a  b' "$x" \n)"));
  EXPECT_THAT(words(R"(a\ b 'c "\' '' x'y'"z")"), ElementsAre("a b", R"(c "\)", "", "xyz"));
  EXPECT_THAT(words(R"(end\)"), ElementsAre(R"(end\)"));
  EXPECT_THAT(words(""), testing::IsEmpty());
  for (char const* open : {"'", "a \"b", R"("\")"}) EXPECT_THROW(words(open), UsageError) << open;
}

TEST(BenchCommands, OfWhichEachIsAProgram) {
  auto const commands = user_commands({"sh -c true", "/bin/sh"}, "");
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0].text, "sh -c true");
  EXPECT_THAT(commands[1].words, ElementsAre("/bin/sh"));
  for (char const* wrong : {"", "  ", "''", "no-such-program-anywhere", "/", "/etc/passwd"})
    EXPECT_THAT([&] { user_commands({wrong}, ""); },
                ThrowsMessage<UsageError>(HasSubstr("--command: ")))
        << wrong;
  EXPECT_THROW(user_commands({}, "/"), UsageError);
  EXPECT_THROW(user_commands({}, "/nowhere/at/all"), UsageError);
}

class BenchFolder : public testing::Test {
 protected:
  std::filesystem::path folder_ =
      testing::TempDir() + "nigh_bench_commands_" + std::to_string(::getpid());

  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(std::string const& name, std::string const& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
};

TEST_F(BenchFolder, CommandsOfAFileAreOneALine) {
  auto const commands = user_commands({"sh"}, file("set", "# these\n\n  sh -c 'true'\nsh"));
  ASSERT_EQ(commands.size(), 3U);
  EXPECT_THAT(commands[1].words, ElementsAre("sh", "-c", "true"));
  EXPECT_THAT([&] { user_commands({}, file("wrong", "sh\n\nsh 'x\n")); },
              ThrowsMessage<UsageError>(HasSubstr("wrong:3")));
  EXPECT_THAT([&] { user_commands({}, file("empty", "# none\n")); },
              ThrowsMessage<UsageError>(HasSubstr("--commands: no command")));
}

TEST(BenchCommandWays, AreFiveAndThoseThatAreGiven) {
  auto const ways = command_ways({"two=OMP_NUM_THREADS=2,X=a=b", "nigh+y=Y="});
  ASSERT_EQ(ways.size(), 7U);
  EXPECT_TRUE(ways[1].is_in_turn);
  EXPECT_EQ(ways[5].environment,
            (std::map<std::string, std::string>{{"OMP_NUM_THREADS", "2"}, {"X", "a=b"}}));
  EXPECT_FALSE(ways[5].has_nigh());
  EXPECT_TRUE(ways[4].has_nigh() && ways[6].has_nigh());
  for (char const* wrong : {"", "a", "a=", "a=b", "=b=c", "a=1x=2", "a=b c=2", "a=b=c,", "a==c",
                            "default=A=b", "nigh=A=b"})
    EXPECT_THROW(command_ways({wrong}), UsageError) << wrong;
  EXPECT_THROW(command_ways({"a=B=c", "a=B=d"}), UsageError);
}

TEST(BenchOutputHash, LeavesOutLinesThatAreIgnored) {
  OutputHash const all({}), some({"^time", "[0-9]+ s$"});
  EXPECT_NE(all("a\n"), all("b\n"));
  EXPECT_NE(all("a\n"), all("a\n\n"));
  EXPECT_EQ(some("a\ntime 1\nb\n"), some("a\nb\ntime 2\nin 7 s\n"));
  EXPECT_NE(some("a\nmy time 1\n"), some("a\nmy time 2\n"));
  EXPECT_THAT([] { OutputHash({"x", "("}); }, ThrowsMessage<UsageError>(HasSubstr("--ignore: ")));
}

class BenchCommandStudy : public testing::Test {
 protected:
  CommandStudy study_;

  std::size_t add(CommandWay const& way, std::vector<std::vector<std::uint64_t>> const& hashes,
                  std::optional<std::size_t> alone = {}) {
    study_.cells.push_back({way, alone});
    for (auto const& some : hashes) study_.cells.back().outcomes.push_back({some});
    return study_.cells.size() - 1;
  }
  Output output(std::size_t cell, std::size_t nth = 0) {
    return study_.output(study_.cells[cell], nth);
  }
};

TEST_F(BenchCommandStudy, JudgesOnlyWhatIsTheSameWithoutNigh) {
  add({"default"}, {{1, 1}, {5, 6}});
  add({"sequential", {}, true}, {{1, 1}, {5, 5}});
  auto const one = add({"one-thread", {{"OMP_NUM_THREADS", "1"}}}, {{2, 2}, {5, 5}});
  auto const right = add({"nigh"}, {{1, 1}, {7, 8}});
  auto const wrong = add({"nigh+all", {{"NIGH_OPENMP_ADJUST", "all"}}}, {{1, 3}, {5, 5}});
  EXPECT_EQ(output(one), Output::other);
  EXPECT_EQ(output(one, 1), Output::varies);
  EXPECT_EQ(output(right), Output::same);
  EXPECT_EQ(output(right, 1), Output::varies);
  EXPECT_EQ(output(wrong), Output::differs);
  EXPECT_TRUE(study_.is_right(study_.cells[one]));
  EXPECT_TRUE(study_.is_right(study_.cells[right]));
  EXPECT_FALSE(study_.is_right(study_.cells[wrong]));
}

TEST_F(BenchCommandStudy, ComparesWithTheSameVariables) {
  add({"default"}, {{1, 1}});
  add({"one-thread", {{"OMP_NUM_THREADS", "1"}}}, {{2, 2}});
  EXPECT_EQ(output(add({"nigh1", {{"OMP_NUM_THREADS", "1"}}}, {{2, 2}})), Output::same);
  EXPECT_EQ(output(add({"nigh2", {{"OMP_NUM_THREADS", "1"}}}, {{1, 1}})), Output::differs);
  EXPECT_EQ(output(add({"nigh3", {{"OMP_NUM_THREADS", "3"}}}, {{4, 4}})), Output::varies);
}

TEST_F(BenchCommandStudy, NeedsTwoRunsWithoutNighOfWhichOneMayBeAlone) {
  add({"default"}, {{1}, {1}});
  auto const nigh = add({"nigh"}, {{2}, {2}});
  EXPECT_EQ(output(nigh, 1), Output::varies);
  add({"default"}, {{1}}, 1);
  EXPECT_EQ(output(nigh, 0), Output::varies);
  EXPECT_EQ(output(nigh, 1), Output::differs);
  EXPECT_EQ(output(add({"nigh"}, {{1}}, 1)), Output::same);
}

TEST_F(BenchCommandStudy, ACommandThatFailsIsNotRight) {
  auto const cell = add({"default"}, {{1, 1}});
  EXPECT_TRUE(study_.is_right(study_.cells[cell]));
  study_.cells[cell].outcomes[0].status = 3;
  EXPECT_FALSE(study_.is_right(study_.cells[cell]));
}

}  // namespace
}  // namespace bench
