// SPDX-License-Identifier: Apache-2.0
// Recorded runs: what is read from a trace, and what becomes of it elsewhere. The traces are made
// up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "machines.hpp"
#include "sim/replay/replay.hpp"
#include "sim/simulation.hpp"

namespace nigh::sim {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Times in milliseconds.
class TraceText {
 public:
  TraceText& worker(int track) {
    events_.push_back(event("M", "thread_name", track));
    events_.back()["args"]["name"] = "worker " + std::to_string(track) + " (cpu 0)";
    return *this;
  }
  TraceText& guest(int track) {
    events_.push_back(event("M", "thread_name", track));
    events_.back()["args"]["name"] = "guest 0";
    return *this;
  }
  TraceText& span(char const* name, int track, double from, double to, json args = json::object()) {
    events_.push_back(event("X", name, track));
    events_.back().update({{"ts", 1e3 * from}, {"dur", 1e3 * (to - from)}, {"args", args}});
    return *this;
  }
  TraceText& task(int track, double from, double to, json args = json::object()) {
    return span("task", track, from, to, args);
  }
  TraceText& low(int track, double at, int tasks) {
    events_.push_back(event("C", "low water, worker", track));
    events_.back().update({{"ts", 1e3 * at}, {"args", {{"tasks", tasks}}}});
    return *this;
  }
  TraceText& all_done(int track, double at) {
    events_.push_back(event("i", "all done", track));
    events_.back()["ts"] = 1e3 * at;
    return *this;
  }
  TraceText& steal(int track, double at, int victim) {
    events_.push_back(event("i", "steal", track));
    events_.back().update({{"ts", 1e3 * at}, {"args", {{"victim", victim}}}});
    return *this;
  }
  json sums{{"format", 2}, {"program", "made-up"}, {"events_lost", 0}};

  std::string text() const { return json{{"traceEvents", events_}, {"otherData", sums}}.dump(); }
  RecordedRun run() const {
    auto parsed = parse_recorded(text());
    EXPECT_TRUE(parsed.ok()) << parsed.message();
    return std::move(parsed).value();
  }

 private:
  static json event(char const* kind, char const* name, int track) {
    return {{"ph", kind},
            {"name", name},
            {"pid", 1},
            {"tid", 100'000 + track},
            {"args", json::object()}};
  }
  json events_ = json::array();
};

std::vector<int> parents(RecordedRun const& run) {
  std::vector<int> all;
  for (auto const& p : run.pieces) all.push_back(p.parent);
  return all;
}

TEST(RecordedRun, HasPhasesThatEndWhenAllIsDone) {
  auto const run = TraceText()
                       .worker(0)
                       .worker(1)
                       .task(0, 1, 3, {{"near", 0}, {"KiB", 8}})
                       .task(1, 2, 5, {{"near", 1}, {"KiB", 8}})
                       .all_done(1, 5.5)
                       .task(0, 7, 9)
                       .task(1, 10, 11)  // others may just not have come to it before
                       .run();
  EXPECT_EQ(run.program, "made-up");
  EXPECT_EQ(run.workers, 2);
  EXPECT_NEAR(run.seconds, 10e-3, 1e-9);
  ASSERT_EQ(run.pauses.size(), 1u);
  EXPECT_NEAR(run.pauses[0], 2e-3, 1e-9);
  ASSERT_EQ(run.pieces.size(), 4u);
  EXPECT_EQ(run.pieces[1].near, 1);
  EXPECT_EQ(run.pieces[1].bytes, 8192);
  EXPECT_EQ(run.pieces[2].near, -1);
  EXPECT_EQ(run.pieces[2].phase, 1);
  EXPECT_EQ(run.pieces[3].phase, 1);
  EXPECT_NEAR(run.work_s(), 8e-3, 1e-9);
}

TEST(RecordedRun, CallsFromOutsideArePhases) {
  auto const run = TraceText().worker(0).guest(1).task(1, 0, 2).task(0, 1, 2).task(1, 3, 4).run();
  EXPECT_EQ(run.pauses.size(), 1u);
  EXPECT_EQ(run.pieces.back().phase, 1);
}

// The stack tells what a piece could have begun after.
TEST(RecordedRun, KnowsATreeByItsStack) {
  auto const run = TraceText()
                       .worker(0)
                       .low(0, 2, 0)
                       .low(0, 4, 3)
                       .low(0, 6, 5)
                       .low(0, 8, 3)
                       .low(0, 10, 1)
                       .task(0, 0, 10)
                       .run();
  EXPECT_THAT(parents(run), ElementsAre(-1, 0, 1, 1, 0));
  for (auto const& p : run.pieces) EXPECT_NEAR(p.seconds, 2e-3, 1e-9);
  EXPECT_NEAR(run.chain_s(), 6e-3, 1e-9);
}

TEST(RecordedRun, AddsWhatHasNoForkToThePieceBefore) {
  auto const run = TraceText().worker(0).low(0, 2, 0).task(0, 0, 10).run();
  ASSERT_EQ(run.pieces.size(), 1u);
  EXPECT_NEAR(run.pieces[0].seconds, 10e-3, 1e-9);
}

TEST(RecordedRun, CountsNoSearchingAndNoTaskTwice) {
  auto const run = TraceText()
                       .worker(0)
                       .span("searching", 0, 1, 4)
                       .task(0, 4, 6)  // in the other one's wait
                       .span("parked", 0, 7, 8)
                       .task(0, 0, 10)
                       .run();
  ASSERT_EQ(run.pieces.size(), 2u);
  EXPECT_NEAR(run.pieces[0].seconds, 4e-3, 1e-9);
  EXPECT_NEAR(run.pieces[1].seconds, 2e-3, 1e-9);
}

TEST(RecordedRun, AStolenTaskHasAParent) {
  auto const run = TraceText()
                       .worker(0)
                       .worker(1)
                       .low(0, 5, 0)
                       .low(0, 9, 1)
                       .task(0, 0, 10)
                       .steal(1, 3, 0)
                       .task(1, 3, 8)
                       .run();
  EXPECT_EQ(run.steals, 1u);
  ASSERT_EQ(run.pieces.size(), 3u);
  EXPECT_EQ(run.pieces[2].parent, 0);
}

std::string complaint(std::string const& text) {
  auto const run = parse_recorded(text);
  EXPECT_FALSE(run.ok());
  return run ? "" : run.message();
}

TEST(RecordedRun, RefusesWhatItCannotRead) {
  EXPECT_THAT(complaint("hello"), HasSubstr("is no trace"));
  EXPECT_THAT(complaint("[1]"), HasSubstr("is no trace"));
  EXPECT_THAT(complaint("{}"), HasSubstr("is no trace"));
  EXPECT_THAT(complaint(""), HasSubstr("is no trace"));
  auto const whole = TraceText().worker(0).task(0, 0, 1).text();
  for (std::size_t n = whole.find("traceEvents") + 20; n < whole.size(); ++n)
    EXPECT_THAT(complaint(whole.substr(0, n)), HasSubstr("is not whole: it ends in the middle"));
  EXPECT_THAT(complaint(whole + "}"), HasSubstr("is no trace"));
  auto trace = TraceText().worker(0).task(0, 0, 1);
  trace.sums["format"] = 3;
  EXPECT_THAT(complaint(trace.text()), HasSubstr("is a trace of format 3, this nigh reads 2"));
  trace.sums.erase("format");
  EXPECT_THAT(complaint(trace.text()), HasSubstr("is a trace of format 1"));
  trace.sums["format"] = 2;
  trace.sums["events_lost"] = 7;
  EXPECT_THAT(complaint(trace.text()), HasSubstr("7 events were overwritten"));
  EXPECT_THAT(complaint(TraceText().worker(0).text()), HasSubstr("holds no tasks"));
  EXPECT_THAT(complaint(R"({"traceEvents": [{"ph": 1}], "otherData": {"format": 2}})"),
              HasSubstr("is no whole trace"));
}

// The simulation takes what it is given: these ended it.
TEST(RecordedRun, RefusesNumbersThatNoTraceHas) {
  auto const of_task = [](json const& args) {
    return complaint(TraceText().worker(0).task(0, 0, 1, args).text());
  };
  EXPECT_THAT(of_task({{"near", 0}, {"KiB", -8}}), HasSubstr("\"KiB\" is -8, no size"));
  EXPECT_THAT(of_task({{"near", 0}, {"KiB", 1e30}}), HasSubstr("\"KiB\" is 1e+30, no size"));
  EXPECT_THAT(of_task({{"near", -5}}), HasSubstr("\"near\" is -5"));
  EXPECT_THAT(of_task({{"near", 1e300}}), HasSubstr("\"near\" is 1e+300"));
  EXPECT_THAT(complaint(TraceText().worker(0).low(0, 1, -1).task(0, 0, 2).text()),
              HasSubstr("\"tasks\" is -1"));
  EXPECT_THAT(complaint(TraceText().worker(-200'000).task(0, 0, 1).text()),
              HasSubstr("\"tid\" is -100000"));
  EXPECT_THAT(complaint(TraceText().worker(0).steal(0, 0, -3).task(0, 0, 1).text()),
              HasSubstr("\"victim\" is -3"));
  EXPECT_THAT(complaint(TraceText().worker(0).task(0, 2, 1).text()),
              HasSubstr("\"dur\" is -1000.0, no time in a run"));
}

TEST(RecordedRun, RefusesDeepNesting) {
  EXPECT_THAT(
      complaint("{\"otherData\":{\"format\":2},\"traceEvents\":[" + std::string(1'000'000, '[')),
      HasSubstr("is nested deeper than 8 levels"));
}

// n tasks of so many seconds and bytes, each near a domain.
RecordedRun tasks(int n, double seconds, double bytes, int workers = 2) {
  RecordedRun run;
  run.program = "tasks";
  run.workers = workers;
  run.seconds = n * seconds / workers;
  for (int i = 0; i < n; ++i) run.pieces.push_back({seconds, 0, -1, 0, bytes});
  return run;
}

ReplayPolicy named(char const* name) {
  auto const& all = replay_policies();
  return *std::find_if(all.begin(), all.end(), [&](auto const& p) { return p.name == name; });
}

class ReplayOn : public ::testing::Test {
 protected:
  Machine const machine = tests::machine("opteron-4x2");

  ReplayOutcome on(RecordedRun const& run, char const* policy, int workers = 0,
                   std::uint64_t seed = 1) const {
    return replay(run, {machine, machine, workers}, named(policy), seed);
  }
};

TEST_F(ReplayOn, SharesWorkAmongItsWorkers) {
  auto const run = tasks(80, 1e-3, 0);
  for (int workers : {1, 2, 4, 8}) {
    auto const o = on(run, "near", workers);
    EXPECT_NEAR(o.seconds, 80e-3 / workers, 1e-4) << workers;
    EXPECT_LE(o.idle_share, 0.01) << workers;
  }
}

TEST_F(ReplayOn, TakesAsLongAsItsLongestChain) {
  auto run = tasks(20, 1e-3, 0);
  for (int i = 1; i < 20; ++i) run.pieces[static_cast<std::size_t>(i)].parent = i - 1;
  EXPECT_NEAR(on(run, "near").seconds, 20e-3, 1e-5);
  EXPECT_NEAR(on(run, "near").idle_share, 7.0 / 8, 0.01);
}

// A root, and so many pieces that lie on the stack of whoever has run it.
RecordedRun tree(int pieces, double root_s, double seconds) {
  auto run = tasks(pieces + 1, seconds, 0);
  run.pieces[0].seconds = root_s;
  for (std::size_t i = 1; i < run.pieces.size(); ++i) run.pieces[i].parent = 0;
  return run;
}

TEST_F(ReplayOn, StealsWhatATreeHasPutDown) {
  auto const o = on(tree(8, 0.5e-3, 1e-3), "near");
  EXPECT_NEAR(o.seconds, 1.5e-3, 2e-5);  // the others have gone to sleep, and are woken
  EXPECT_EQ(o.steals, 7u);
}

// policy::chunk_to_steal: half from another package, and what was stolen is stolen on.
TEST_F(ReplayOn, StealsInTheProductsChunks) {
  auto const run = tree(400, 0.1e-3, 0.1e-3);
  auto one_each = named("near");
  one_each.chunks = policy::ChunkChoice::one;
  auto const half = on(run, "near"), one = replay(run, {machine, machine, 0}, one_each, 1);
  EXPECT_LE(4 * half.steals, 3 * one.steals);
  EXPECT_NEAR(half.seconds, one.seconds, 0.1 * one.seconds);
}

// policy::looks_abroad: after two rounds of lingering and eight at home.
TEST_F(ReplayOn, LooksAtHomeBeforeItLooksAbroad) {
  auto run = tasks(16, 1e-6, 0);  // four for each domain
  for (std::size_t i = 0; i < 4; ++i) run.pieces[i].seconds = 10e-3;
  auto const o = on(run, "near");
  EXPECT_EQ(o.taken_abroad, 2u);
  double const looked_from = 2e-6, abroad = 2 * 0.8e-6 + 8 * 0.2e-6;
  EXPECT_NEAR(o.seconds, looked_from + abroad + 300e-9 + 10e-3, 20e-9);
}

// policy::chunk_of_own_queue: what its taker has not begun, a sibling takes when it has lingered.
TEST_F(ReplayOn, TakesChunksAtHome) {
  auto run = tasks(4, 10e-6, 0);
  run.pieces[0].seconds = 100e-6;
  auto const o = on(run, "strict", 2);
  EXPECT_NEAR(o.seconds, 100e-6, 1e-6);
  auto const alone = on(run, "strict", 1);
  EXPECT_NEAR(alone.seconds, 130e-6, 1e-6);
  // 64 in one queue: a worker's 16 come in one go, and last past the other's.
  EXPECT_NEAR(on(tasks(64, 1e-3, 0), "strict", 2).seconds, 32e-3, 1e-4);
}

// policy::rest: a worker that has looked in vain for 50 us has to be woken, which takes message_ns, and
// then wakes the next.
TEST_F(ReplayOn, WakesThoseWhoSleep) {
  double const pieces_s = 5e-3;
  auto const awake = on(tree(8, 40e-6, pieces_s), "near");
  auto const asleep = on(tree(8, 60e-6, pieces_s), "near");
  EXPECT_LT(awake.seconds, 40e-6 + pieces_s + 1e-6);
  EXPECT_GE(asleep.seconds, 60e-6 + pieces_s + 2e-6);
  EXPECT_LT(asleep.seconds, 60e-6 + pieces_s + 8 * 3e-6);
}

TEST_F(ReplayOn, TellsEveryWorkersStateWhenItCannotGoOn) {
  auto const run = tree(8, 1e-3, 1e-3);
  int stuck = 0;
  for (std::uint64_t lost = 0; lost < 20; ++lost) try {
      auto const o = replay(run, {machine, machine, 0, {lost}}, named("near"), 1);
      EXPECT_GE(o.seconds, 2e-3);  // of looks in vain
    } catch (Stuck const& e) {
      ++stuck;
      EXPECT_THAT(e.what(), HasSubstr("nothing can go on"));
      EXPECT_THAT(e.what(), HasSubstr("pieces of phase 0 have not ended"));
      for (int w = 0; w < 8; ++w)
        EXPECT_THAT(e.what(), HasSubstr("worker " + std::to_string(w) + ": "));
    }
  EXPECT_GE(stuck, 4);
}

TEST_F(ReplayOn, PhasesFollowEachOtherAfterTheirPauses) {
  auto run = tasks(16, 1e-3, 0);
  for (std::size_t i = 8; i < 16; ++i) run.pieces[i].phase = 1;
  run.pauses = {5e-3};
  EXPECT_NEAR(on(run, "near").seconds, 7e-3, 1e-5);
}

// The loss of one queue for all where memory is far.
TEST_F(ReplayOn, QueuesNearDataKeepItNear) {
  auto const run = tasks(800, 1e-3, 4e6);
  auto const near = on(run, "near"), one = on(run, "one-queue");
  EXPECT_LE(near.remote_share, 0.05);
  EXPECT_GE(one.remote_share, 0.5);
  EXPECT_LT(2 * near.seconds, one.seconds);
  auto const strict = on(run, "strict");
  EXPECT_EQ(strict.remote_share, 0);
  EXPECT_EQ(strict.taken_abroad, 0u);
}

// Recorded with both cpus of a domain at its controller's bandwidth: there it takes the same again.
TEST_F(ReplayOn, TakesTheSameWhereItWasRecorded) {
  auto const machine_of_one = parse_machine("one.json", R"({"format": 1, "title": "one domain",
    "topology": {"synthetic": "pack:1 numa:1 core:2 pu:1", "source": "a test"},
    "memory": {"thread_gb_per_s": {"value": 4, "source": "a test"},
      "per_hop": {"value": 0, "source": "a test"}, "controller_gb_per_s": {"value": 5, "source": "a test"},
      "crowding": {"value": 0, "source": "a test"}, "uncrowded_flows": {"value": 0, "source": "a test"},
      "read_share": {"value": 1, "source": "a test"}},
    "costs": {"message_ns": {"value": 0, "source": "a test"}, "barrier_ns": {"value": 0, "source": "a test"},
      "slice_ns": {"value": 0, "source": "a test"}}})");
  ASSERT_TRUE(machine_of_one.ok()) << machine_of_one.message();
  for (double bytes : {0.0, 1e6, 2.5e6, 9e6}) {
    auto const run = tasks(100, 1e-3, bytes);
    auto const o = replay(run, {*machine_of_one, *machine_of_one, 2}, named("near"), 1);
    EXPECT_NEAR(o.seconds, run.seconds, 0.02 * run.seconds) << bytes;
  }
}

TEST_F(ReplayOn, SameSeedSameRun) {
  auto run = tasks(300, 1e-4, 1e5);
  for (std::size_t i = 1; i < 300; ++i) run.pieces[i].parent = static_cast<int>(i) / 3;
  for (auto const& policy : replay_policies()) {
    auto const a = on(run, policy.name.c_str(), 0, 5), b = on(run, policy.name.c_str(), 0, 5);
    EXPECT_EQ(a.seconds, b.seconds) << policy.name;
    EXPECT_EQ(a.steals, b.steals) << policy.name;
  }
}

}  // namespace
}  // namespace nigh::sim
