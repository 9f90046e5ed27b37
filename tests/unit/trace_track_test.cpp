// SPDX-License-Identifier: Apache-2.0
// The ring of events, and what a worker's calls put into it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "trace/event_ring.hpp"
#include "trace/track.hpp"

namespace nigh::trace {
namespace {

using testing::ElementsAre;

Event numbered(int n) {
  return {n, EventKind::steal, level::host, static_cast<std::uint16_t>(n % 1000),
          static_cast<std::uint32_t>(3 * n)};
}

TEST(EventRing, KeepsTheLastOnesInOrder) {
  for (std::size_t capacity : {1u, 2u, 3u, 8u, 64u})
    for (int pushed = 0; pushed < 200; ++pushed) {
      EventRing ring(capacity);
      for (int n = 0; n < pushed; ++n) ring.push(numbered(n));
      auto const all = ring.read();
      auto const kept = static_cast<int>(all.events.size());
      ASSERT_EQ(static_cast<int>(all.lost) + kept, pushed);
      ASSERT_GE(kept, std::min(pushed, static_cast<int>(std::max<std::size_t>(capacity, 2)) - 1));
      for (int i = 0; i < kept; ++i)
        ASSERT_EQ(all.events[static_cast<std::size_t>(i)], numbered(pushed - kept + i));
    }
}

TEST(EventRing, KeepsEveryFieldsExtremes) {
  EventRing ring(16);
  std::vector<Event> const extremes{
      {INT64_MAX, EventKind::queue_length, level::cluster, 0xffff, 0xffffffff},
      {0, EventKind::task_begin, level::cpu, 0, 0},
      {-1, EventKind::park, level::l3, 1, 0x80000000}};
  for (auto const& e : extremes) ring.push(e);
  EXPECT_EQ(ring.read().events, extremes);
}

// The events that a reader sees of a busy ring are whole and without gaps.
TEST(EventRing, MayBeReadWhileItIsWritten) {
  EventRing ring(16);
  std::thread writer([&ring] {
    for (int n = 0; n < 20'000; ++n) ring.push(numbered(n));
  });
  for (int looks = 0; looks < 500; ++looks) {
    auto const all = ring.read();
    for (std::size_t i = 0; i < all.events.size(); ++i)
      ASSERT_EQ(all.events[i], numbered(static_cast<int>(all.lost + i)));
  }
  writer.join();
  EXPECT_EQ(ring.read().events.back(), numbered(19'999));
}

std::int64_t now_ns = 0;

class TrackTest : public testing::Test {
 protected:
  TrackTest() { now_ns = 0; }

  std::vector<Event> events() {
    track.flush();
    return track.events().events;
  }
  std::vector<EventKind> kinds() {
    std::vector<EventKind> all;
    for (auto const& e : events()) all.push_back(e.kind);
    return all;
  }

  Track track{1024, []() noexcept { return now_ns; }};
};

TEST_F(TrackTest, StealsSayFromWhomAndHowMany) {
  now_ns = 7;
  track.stole(3, level::package, 5);
  EXPECT_THAT(events(), ElementsAre(Event{7, EventKind::steal, level::package, 3, 5}));
  EXPECT_EQ(track.totals().steals[static_cast<std::size_t>(level::package)].get(), 1u);
  EXPECT_EQ(track.totals().steals[static_cast<std::size_t>(level::host)].get(), 0u);
  EXPECT_EQ(track.totals().stolen.get(), 5u);
}

TEST_F(TrackTest, FailedRoundsInARowAreOneEvent) {
  for (; now_ns < 10; ++now_ns) track.search_failed();
  track.stole(1, level::l3, 1);
  track.search_failed();
  EXPECT_THAT(events(), ElementsAre(Event{0, EventKind::failed_search, level::cpu, 0, 10},
                                    Event{10, EventKind::steal, level::l3, 1, 1},
                                    Event{10, EventKind::failed_search, level::cpu, 0, 1}));
  EXPECT_EQ(track.totals().failed.get(), 11u);
}

TEST_F(TrackTest, LongCrowdsLeaveSeveralMarks) {
  for (int i = 0; i < 10'000; ++i) track.serialized();
  std::uint32_t sum = 0;
  for (auto const& e : events()) sum += e.count;
  EXPECT_EQ(sum, 10'000u);
  EXPECT_EQ(events().size(), 3u);
}

TEST_F(TrackTest, ResumesOnlyFromASearch) {
  track.task_begin();
  track.resumed();
  track.search_failed();
  track.resumed();
  track.resumed();
  EXPECT_THAT(kinds(),
              ElementsAre(EventKind::task_begin, EventKind::failed_search, EventKind::resume));
}

TEST_F(TrackTest, RemembersHowLowItsStackHasBeen) {
  for (std::size_t height : {7u, 3u, 9u}) track.forked(height);
  now_ns = 5;
  track.queue_length(4);
  track.queue_length(2);  // no fork since
  track.forked(6);
  track.task_end();
  EXPECT_THAT(events(), ElementsAre(Event{5, EventKind::queue_length, level::cpu, 0, 4},
                                    Event{5, EventKind::low_water, level::cpu, 0, 3},
                                    Event{5, EventKind::queue_length, level::cpu, 0, 2},
                                    Event{5, EventKind::low_water, level::cpu, 0, 6},
                                    Event{5, EventKind::task_end, level::cpu, 0, 0}));
}

TEST_F(TrackTest, KnowsWhereAQueuedTaskBelongs) {
  track.task_begin(3, 5000);
  track.task_begin();
  EXPECT_THAT(events(), ElementsAre(Event{0, EventKind::task_begin, level::cpu, 4, 5},
                                    Event{0, EventKind::task_begin, level::cpu, 0, 0}));
}

// Busy is inside a task, and neither searching nor asleep.
TEST_F(TrackTest, AddsUpTheBusyTime) {
  auto const at = [](std::int64_t t) { now_ns = t; };
  at(100), track.search_failed();
  at(110), track.task_begin();  // busy from here
  at(120), track.task_begin();  // a task inside a task counts once
  at(125), track.task_end();
  at(130), track.search_failed();  // to here: 20; it waits for somebody
  at(140), track.search_failed();
  at(150), track.parked();
  at(190), track.unparked(true);
  at(195), track.resumed();  // busy again
  at(200), track.serialized();
  at(205), track.serialized();
  EXPECT_EQ(track.busy_ns(), 30u);
  at(210), track.queue_length(3);
  at(220), track.task_end();  // to here: 25
  at(300), track.parked();
  EXPECT_EQ(track.busy_ns(), 45u);
  EXPECT_EQ(track.totals().parks.get(), 2u);  // the second one lasts
  track.unparked(false);
  EXPECT_EQ(track.totals().parks.get(), 1u);  // it did not even begin
}

// For ThreadSanitizer: the reader may come while the ring is being made. (track.M)
TEST(Track, MayBeReadFromItsFirstEventOn) {
  for (int run = 0; run < 50; ++run) {
    Track track(16);
    std::thread worker([&track] { track.stole(1, level::host, 2); });
    while (track.events().events.empty()) std::this_thread::yield();
    EXPECT_EQ(track.events().events[0].count, 2u);
    worker.join();
  }
}

}  // namespace
}  // namespace nigh::trace
