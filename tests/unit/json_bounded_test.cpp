// SPDX-License-Identifier: Apache-2.0
// JSON that is nested, large, dense or endless.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "json/bounded.hpp"
#include "json/whole_number.hpp"

namespace nigh::json {
namespace {

std::string refusal(std::string const& text, Limits limits = {}) {
  auto const got = read(text, limits);
  return got ? "" : got.message();
}

TEST(BoundedJson, IsWhatNlohmannReads) {
  for (std::string const text :
       {"null", "-1", "18446744073709551615", "1.5e3", "\"a\\u00e9\"", "[]", "{}",
        "[[],{},[1,[2]]]",
        R"({"a":{"b":[true,false,null,{"c":"d"}]},"a long key, longer than sixteen":[1,2,3]})"}) {
    auto const got = read(text);
    ASSERT_TRUE(got) << text << got.message();
    EXPECT_EQ(*got, nlohmann::json::parse(text)) << text;
  }
}

TEST(BoundedJson, RefusesWhatIsNone) {
  for (std::string const text : {"", "{", "[1,]", "{\"a\"}", "nul", "1 2", "\"\xff\"", "1e999"})
    EXPECT_EQ(refusal(text), "is cut or damaged: no JSON") << text;
}

TEST(BoundedJson, HasALimitOfDepth) {
  auto const nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_EQ(refusal(nested(32)), "");
  EXPECT_EQ(refusal(nested(33)), "is nested deeper than 32 levels");
  EXPECT_EQ(refusal(nested(2'000'000)), "is nested deeper than 32 levels");
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"\":";
  EXPECT_EQ(refusal(objects), "is nested deeper than 32 levels");
}

TEST(BoundedJson, HasALimitOfBytes) {
  EXPECT_EQ(refusal(std::string(9, ' ') + '1', {.bytes = 10}), "");
  EXPECT_EQ(refusal(std::string(10, ' ') + '1', {.bytes = 10}), "is larger than 10 bytes");
}

// A few bytes of text are tens of bytes in memory.
TEST(BoundedJson, HasALimitOfMemory) {
  for (std::string const element : {"[]", "{}", "\"\"", "[[]]", "{\"\":0}", "0"}) {
    std::string text = "[" + element;
    while (text.size() + element.size() < 8'000'000) text += ',' + element;
    EXPECT_EQ(refusal(text + ']'), "has more values than a file of its size should have")
        << element;
  }
}

TEST(BoundedJson, GivesAwayTheElementsOfOneList) {
  std::string text = R"({"before":[1],"events":[7,{"a":[1]},[],"x")";
  for (int i = 0; i < 500'000; ++i) text += R"(,{"a":[{}]})";
  text += R"(],"after":{"events":[1,2]}})";
  std::vector<nlohmann::json> first;
  int given = 0;
  Builder builder({}, text.size());
  builder.give_away("events", [&](nlohmann::json const& e) {
    if (++given <= 4) first.push_back(e);
  });
  ASSERT_TRUE(nlohmann::json::sax_parse(text, &builder));
  EXPECT_EQ(given, 500'004);
  EXPECT_EQ(first, (std::vector<nlohmann::json>{7, {{"a", {1}}}, nlohmann::json::array(), "x"}));
  EXPECT_EQ(builder.take(),
            nlohmann::json::parse(R"({"before":[1],"events":[],"after":{"events":[1,2]}})"));
}

TEST(BoundedJson, ReadsNoMoreOfAFileThanItMay) {
  EXPECT_EQ(read_file("/dev/zero", 1'000'000).message(), "is larger than 1000000 bytes");
  EXPECT_EQ(read_file("/", 10).message(), "is a directory");
  EXPECT_EQ(read_file("/nowhere", 10).message(), "cannot be read: No such file or directory");
  auto const file = ::testing::TempDir() + "bounded.json";
  std::ofstream(file) << "0123456789";
  EXPECT_EQ(read_file(file, 10).value(), "0123456789");
  EXPECT_EQ(read_file(file, 9).message(), "is larger than 9 bytes");
}

TEST(WholeNumber, IsOneWithinItsBounds) {
  auto const number = [](nlohmann::json const& j) { return whole_number(j, -1, 100); };
  EXPECT_EQ(number(-1), -1);
  EXPECT_EQ(number(100), 100);
  for (nlohmann::json const& odd : std::vector<nlohmann::json>{
           101, -2, INT64_MIN, UINT64_MAX, 1e300, 1.0, "1", nullptr, nlohmann::json::array({1})})
    EXPECT_FALSE(number(odd)) << odd;
  EXPECT_EQ(whole_number<std::uint64_t>(UINT64_MAX, 0, UINT64_MAX), UINT64_MAX);
}

}  // namespace
}  // namespace nigh::json
