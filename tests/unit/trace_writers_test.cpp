// SPDX-License-Identifier: Apache-2.0
// Events as JSON for ui.perfetto.dev, and runs in numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trace/chrome_json.hpp"
#include "trace/summary.hpp"

namespace nigh::trace {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json parsed(std::string events) {
  if (events.empty()) return json::array();
  EXPECT_TRUE(events.ends_with(",\n"));
  events.resize(events.size() - 2);
  return json::parse("[" + events + "]");
}

json track_of(std::vector<Event> const& events, std::int64_t end_ns) {
  std::string out;
  chrome::append_track(out, 2, 3, "worker 3", events, 1000, end_ns);
  return parsed(out);
}

Event at(std::int64_t ns, EventKind kind, std::uint32_t count = 0) {
  return {ns, kind, level::l3, 1, count};
}

TEST(ChromeJson, StringsSurviveWhateverTheyHold) {
  for (std::string const& text :
       {std::string("plain"), std::string("a \"b\" \\ c"), std::string("\n\t\x01\x1f\x7f", 5),
        std::string("null\0inside", 11), std::string("Ünïcode \u20ac \U0001f600"), std::string()})
    EXPECT_EQ(json::parse(chrome::json_string(text)).get<std::string>(), text);
}

TEST(ChromeJson, WhatIsNoUtf8IsMarked) {
  std::string const mark = "\ufffd";
  struct Case {
    std::string text, shown;
  };
  for (auto const& [text, shown] : {
           Case{"a\xff\x62", "a" + mark + "b"},                  // no first byte
           Case{"a\xe2\x82", "a" + mark + mark},                 // ends early
           Case{"\xc0\x80x", mark + mark + "x"},                 // overlong
           Case{"\xed\xa0\x80", mark + mark + mark},             // surrogate
           Case{"\xf4\x90\x80\x80", mark + mark + mark + mark},  // beyond the last character
           Case{"\xe2\x28\xa1", mark + "(" + mark},
       })
    EXPECT_EQ(json::parse(chrome::json_string(text)).get<std::string>(), shown);
}

TEST(ChromeJson, ATaskIsASpanInMicroseconds) {
  auto const events =
      track_of({at(2'500, EventKind::task_begin), at(4'001, EventKind::task_end)}, 0);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["ph"], "X");
  EXPECT_EQ(events[0]["name"], "task");
  EXPECT_DOUBLE_EQ(events[0]["ts"], 1.5);
  EXPECT_DOUBLE_EQ(events[0]["dur"], 1.501);
  EXPECT_EQ(events[0]["pid"], 2);
  EXPECT_EQ(events[0]["tid"], 200'003);
}

TEST(ChromeJson, AStealFromAnotherRankNamesIt) {
  auto const events = track_of({{2'000, EventKind::steal, level::cluster, 5, 12}}, 0);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["name"], "steal from rank");
  EXPECT_EQ(events[0]["args"], json({{"rank", 5}, {"tasks", 12}}));
}

TEST(ChromeJson, ASearchOrSleepLastsUntilTheNextEvent) {
  auto const events = track_of({at(1000, EventKind::failed_search, 9), at(1200, EventKind::park),
                                at(2000, EventKind::unpark), at(2010, EventKind::failed_search, 3),
                                at(2050, EventKind::steal, 4),
                                at(2060, EventKind::failed_search, 1), at(2100, EventKind::resume)},
                               5000);
  std::vector<std::string> shown;
  for (auto const& e : events)
    shown.push_back(e["name"].get<std::string>() + " " + e["ts"].dump() + "+" +
                    (e.contains("dur") ? e["dur"].dump() : "") + " " + e["args"].dump());
  EXPECT_THAT(shown,
              testing::ElementsAre("searching 0.0+0.2 {\"failed rounds\":9}", "parked 0.2+0.8 {}",
                                   "searching 1.01+0.04 {\"failed rounds\":3}",
                                   "steal 1.05+ {\"level\":\"l3\",\"tasks\":4,\"victim\":1}",
                                   "searching 1.06+0.04 {\"failed rounds\":1}"));
}

TEST(ChromeJson, TasksSayWhereTheyBelong) {
  Event near = at(2'500, EventKind::task_begin, 12);
  near.victim = 4;
  auto const events =
      track_of({near, at(4'001, EventKind::task_end), at(5'000, EventKind::low_water, 3)}, 0);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["args"], nlohmann::json({{"near", 3}, {"KiB", 12}}));
  EXPECT_EQ(events[1]["name"], "low water, worker 3");
  EXPECT_EQ(events[1]["args"]["tasks"], 3);
}

TEST(ChromeJson, InstantsAndCountersHaveTheirForm) {
  auto const events =
      track_of({at(1000, EventKind::serialized, 12), at(1001, EventKind::queue_length, 7)}, 2000);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["ph"], "i");
  EXPECT_EQ(events[0]["s"], "t");
  EXPECT_EQ(events[0]["args"]["tasks"], 12);
  EXPECT_EQ(events[1]["ph"], "C");
  EXPECT_EQ(events[1]["name"], "queue length, worker 3");
  EXPECT_EQ(events[1]["args"]["tasks"], 7);
}

// In every part of a run that the ring still holds, spans nest: one lies inside another or beside
// it.
TEST(ChromeJson, SpansNestWhereverTheRingBegins) {
  std::vector<Event> all;
  std::int64_t t = 1000;
  for (int i = 0; i < 40; ++i) {
    all.push_back(at(t += 3, EventKind::task_begin));
    if (i % 2 == 0) all.push_back(at(t += 2, EventKind::failed_search, 1));
    if (i % 4 == 0) all.push_back(at(t += 5, EventKind::park));
    if (i % 4 == 0) all.push_back(at(t += 5, EventKind::unpark));
    if (i % 3 == 0) all.push_back(at(t, EventKind::task_begin));
    if (i % 3 == 0) all.push_back(at(t += 1, EventKind::task_end));
    if (i % 5 != 0) all.push_back(at(t += 2, EventKind::task_end));
  }
  for (std::size_t first = 0; first < all.size(); ++first) {
    std::vector<Event> const kept(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
    struct Span {
      double begin, end;
    };
    std::vector<Span> spans;
    for (auto const& e : track_of(kept, t + 10))
      if (e["ph"] == "X") {
        double const begin = e["ts"], length = e["dur"];
        spans.push_back({begin, begin + length});
      }
    for (auto const& a : spans)
      for (auto const& b : spans) {
        bool const beside = a.end <= b.begin + 1e-9 || b.end <= a.begin + 1e-9;
        bool const a_holds_b = a.begin <= b.begin + 1e-9 && b.end <= a.end + 1e-9;
        bool const b_holds_a = b.begin <= a.begin + 1e-9 && a.end <= b.end + 1e-9;
        ASSERT_TRUE(beside || a_holds_b || b_holds_a) << "ring from event " << first;
      }
  }
}

TEST(ChromeJson, NamesAreMetadata) {
  std::string out;
  chrome::append_runtime(out, 1, "a \"program\"");
  chrome::append_track_name(out, 1, 4, "worker 4");
  auto const events = parsed(out);
  ASSERT_EQ(events.size(), 3u);
  for (auto const& e : events) EXPECT_EQ(e["ph"], "M");
  EXPECT_EQ(events[0]["name"], "process_name");
  EXPECT_EQ(events[0]["args"]["name"], "a \"program\"");
  EXPECT_EQ(events[1]["name"], "thread_name");
  EXPECT_EQ(events[2]["args"]["sort_index"], 4);
}

Summary example() {
  Summary s;
  s.runtimes = 1;
  s.workers = 8;
  s.created = 111'345'631;
  s.serialized = 1'000'000;
  s.steals[static_cast<std::size_t>(level::l3)] = 30;
  s.steals[static_cast<std::size_t>(level::host)] = 10;
  s.stolen = 75;
  s.failed = 1'234;
  s.parks = 5;
  s.busy_ns = 111'345'631ull * 75;
  s.elapsed_ns = 2'500'000'000;
  return s;
}

TEST(Summary, ReadsLikeThePapersTable) {
  EXPECT_EQ(text(example(), 4.25),
            "workers                   8\n"
            "elapsed                   2.500 s\n"
            "tasks created             111,345,631\n"
            "average task time         75.0 ns\n"
            "task creation overhead    4.2 ns\n"
            "tasks serialized          1,000,000 (0.9%)\n"
            "steals                    40, of 75 tasks\n"
            "  within l3               30 (75.0%)\n"
            "  within host             10 (25.0%)\n"
            "failed steals             1,234\n"
            "parks                     5\n");
}

TEST(Summary, OfNothingDividesByNothing) {
  EXPECT_THAT(text({}, std::nullopt), HasSubstr("average task time         -\n"));
  EXPECT_THAT(text({}, std::nullopt), HasSubstr("steals                    0\n"));
}

TEST(Summary, OfAlteredRingsSaysSo) {
  Summary s = example();
  s.events_lost = 1000;
  EXPECT_THAT(text(s, std::nullopt), HasSubstr("events overwritten        1,000\n"));
}

TEST(Summary, IsJsonToo) {
  auto const j = json::parse("{" + json_members(example()) + "}");
  EXPECT_EQ(j["created"], 111'345'631);
  EXPECT_EQ(j["steals"], json({{"l3", 30}, {"host", 10}}));
  EXPECT_EQ(j["elapsed_ns"], 2'500'000'000);
  EXPECT_TRUE(json::parse("{" + json_members(Summary{}) + "}")["steals"].empty());
}

TEST(Summary, AddsUp) {
  auto twice = example() + example();
  EXPECT_EQ(twice.created, 2 * example().created);
  EXPECT_EQ(all_steals(twice), 80u);
  EXPECT_EQ(twice.elapsed_ns, example().elapsed_ns);
  EXPECT_EQ(twice.busy_ns, 2 * example().busy_ns);
  EXPECT_EQ(example() + Summary{}, example());
}

}  // namespace
}  // namespace nigh::trace
