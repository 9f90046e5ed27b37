// SPDX-License-Identifier: Apache-2.0
// nighd's log: who says something does not wait for the disk, and the last lines are not lost.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "nighd/log.hpp"
#include "temporary_folder.hpp"

namespace nigh::nighd {
namespace {

using namespace std::chrono_literals;

// The lines that it wrote, once the disk is idle again.
struct SlowDisk {
  LineQueue::Writer writer() {
    return {
        .line =
            [this](Line const& line) {
              if (is_idle.valid()) is_idle.wait();
              written.push_back(line.text);
            },
        .lost = [this](std::size_t lines) { written.push_back("lost " + std::to_string(lines)); }};
  }
  std::promise<void> disk;
  std::shared_future<void> is_idle = disk.get_future().share();
  std::vector<std::string> written;
};

TEST(LineQueue, DoesNotWaitForWhatIsWrittenToAndKeepsTheNewest) {
  SlowDisk slow;
  LineQueue lines(slow.writer());
  constexpr std::size_t said = 3 * LineQueue::most_waiting;
  for (std::size_t i = 0; i < said; ++i) lines.add({{}, false, std::to_string(i)});
  slow.disk.set_value();
  ASSERT_TRUE(lines.finish(60s));
  // One may have been on its way to the disk, before any were lost or after some.
  std::size_t next = 0, lines_written = 0;
  for (auto const& text : slow.written) {
    if (text.starts_with("lost ")) {
      next += std::stoul(text.substr(5));
      continue;
    }
    EXPECT_EQ(text, std::to_string(next)) << "each is written or counted as lost, in order";
    ++next;
    ++lines_written;
  }
  EXPECT_EQ(next, said);
  EXPECT_GE(lines_written, LineQueue::most_waiting);
  EXPECT_LE(lines_written, LineQueue::most_waiting + 1);
  EXPECT_EQ(slow.written.back(), std::to_string(said - 1)) << "the last one is written";
}

TEST(LineQueue, DoesNotWaitForEverAtTheEnd) {
  SlowDisk slow;
  std::promise<void> is_written;
  auto writer = slow.writer();
  writer.line = [&, line = writer.line](Line const& l) { line(l), is_written.set_value(); };
  LineQueue lines(std::move(writer));
  lines.add({{}, false, "last"});
  EXPECT_FALSE(lines.finish(1ms));
  slow.disk.set_value();
  is_written.get_future().wait();
  EXPECT_TRUE(lines.finish(60s));
  EXPECT_EQ(slow.written, std::vector<std::string>{"last"});
}

TEST(LineQueue, WithoutALineHasNothingToFinish) {
  LineQueue lines({});
  EXPECT_TRUE(lines.finish(0ms));
}

TEST(Log, HasTheLinesOfAllThreadsEachInItsOrder) {
  test::TemporaryFolder const folder;
  auto const& directory = folder.path();
  auto const log = *Log::to_file(directory / "n.log");
  constexpr int each = 200;
  auto const speak = [&log](char whose) {
    for (int i = 0; i < each; ++i)
      log(i % 2 == 0 ? Log::Level::info : Log::Level::warning, "a {} \"word\"",
          std::string("who=") + whose + " number=" + std::to_string(i));
  };
  std::thread other(speak, 'b');
  speak('a');
  other.join();
  ASSERT_TRUE(log.finish(60s));
  std::map<char, int> next;
  std::ifstream file(directory / "n.log");
  for (std::string line; std::getline(file, line);) {
    char const whose = line.at(line.find("who=") + 4);
    int const number = next[whose]++;
    std::string const level = number % 2 == 0 ? " level=info" : " level=warning";
    EXPECT_EQ(line.substr(line.find(' ')), level + " event=\"a {} \\\"word\\\"\" who=" + whose +
                                               " number=" + std::to_string(number));
  }
  EXPECT_EQ(next['a'], each);
  EXPECT_EQ(next['b'], each);
}

// The file before cannot be replaced: something else has its name.
TEST(Log, DoesNotGrowBeyondItsSizeWhereItCannotBeRenamed) {
  test::TemporaryFolder const folder;
  auto const& directory = folder.path();
  std::filesystem::create_directories(directory / "n.1.log" / "x");
  auto const log = *Log::to_file(directory / "n.log");
  std::string const long_line(10'000, 'x');
  for (int i = 0; i < 300; ++i) log(Log::Level::info, "long", long_line);
  ASSERT_TRUE(log.finish(60s));
  auto const size = std::filesystem::file_size(directory / "n.log");
  EXPECT_LE(size, 1'000'000u);
  EXPECT_GE(size, 900'000u);
}

}  // namespace
}  // namespace nigh::nighd
