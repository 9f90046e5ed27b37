// SPDX-License-Identifier: Apache-2.0
// Recorders write one file for a process, and never break the program they record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "temporary_folder.hpp"
#include "trace/rank.hpp"
#include "trace/recorder.hpp"

namespace nigh::trace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

class RecorderTest : public testing::Test {
 protected:
  std::string file(char const* name = "trace.json") const { return (folder / name).string(); }
  static json read(std::string const& name) {
    std::ifstream in(name);
    return json::parse(in);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (auto const& entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    return names;
  }

  test::TemporaryFolder const temporary;
  fs::path const folder = temporary.path();
};

std::vector<Recorder::TrackInfo> two_workers() {
  return {{"worker 0 (cpu 4)"}, {"worker 1 (cpu 6)"}};
}

int spans(json const& trace) {
  int n = 0;
  for (auto const& e : trace["traceEvents"]) n += e["ph"] == "X" ? 1 : 0;
  return n;
}

void run_a_task(Recorder& r, int track) {
  r.track(track).task_begin();
  r.track(track).task_end();
}

// In a child process, whose exit status is what f returns: through exit(), as programs end.
template <class F>
int in_child(F f) {
  auto const child = ::fork();
  if (child == 0) std::exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(RecorderTest, ARankTellsWhichItIsAndHowItsClockGoes) {
  Recorder::start(file("alone%r.json"), two_workers()).reset();
  EXPECT_FALSE(read(file("alone0.json"))["otherData"].contains("rank"));
  EXPECT_GT(read(file("alone0.json"))["otherData"]["zero_ns"], 0);
  auto const as_a_rank = [&] {
    set_rank({2, 4, "n\"3", -70, 9});
    Recorder::start(file("rank%r.json"), two_workers()).reset();
    return 0;
  };
  ASSERT_EQ(in_child(as_a_rank), 0);
  auto const told = read(file("rank2.json"))["otherData"];
  EXPECT_EQ(told["rank"], 2);
  EXPECT_EQ(told["ranks"], 4);
  EXPECT_EQ(told["host"], "n\"3");
  EXPECT_EQ(told["to_rank_0_ns"], -70);
  EXPECT_EQ(told["clock_error_ns"], 9);
}

TEST_F(RecorderTest, NobodyAskedNobodyRecords) {
  EXPECT_EQ(Recorder::start("", two_workers()), nullptr);
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(RecorderTest, WritesTracksAndSumsWhenItGoes) {
  WorkerCounters counters(1);
  counters.forked.add(40);
  counters.run.add(2);
  counters.serialized.add(8);
  {
    auto const r = Recorder::start(
        file(),
        {{"worker 0", &counters}, {"guest", nullptr, false}, {"idle guest", nullptr, false}});
    ASSERT_NE(r, nullptr);
    run_a_task(*r, 0);
    r->track(0).search_failed();
    r->track(0).stole(1, level::package, 2);
    r->track(1).serialized();
    r->track(1).parked();
    EXPECT_EQ(read(file())["traceEvents"].size(), 0u);  // whole JSON from the beginning
  }
  auto const trace = read(file());
  EXPECT_EQ(spans(trace), 3);
  auto const& sums = trace["otherData"];
  EXPECT_EQ(sums["format"], 2);
  EXPECT_EQ(sums["process"], ::getpid());
  EXPECT_EQ(sums["workers"], 1);
  EXPECT_EQ(sums["created"], 50);
  EXPECT_EQ(sums["steals"], json({{"package", 1}}));
  EXPECT_EQ(sums["stolen"], 2);
  EXPECT_EQ(sums["failed"], 1);
  EXPECT_EQ(sums["serialized"], 8);
  EXPECT_EQ(sums["parks"], 1);
  std::string const names = trace.dump();
  EXPECT_THAT(names, HasSubstr("worker 0"));
  EXPECT_THAT(names, HasSubstr("\"guest"));
  EXPECT_THAT(names, testing::Not(HasSubstr("idle guest")));
}

TEST_F(RecorderTest, RuntimesOfAProcessShareItsFile) {
  auto first = Recorder::start(file(), two_workers());
  auto second = Recorder::start(file(), two_workers());
  run_a_task(*first, 0);
  run_a_task(*second, 1);
  run_a_task(*second, 1);
  second.reset();
  EXPECT_EQ(spans(read(file())), 2);
  first.reset();
  auto const trace = read(file());
  EXPECT_EQ(spans(trace), 3);
  EXPECT_EQ(trace["otherData"]["runtimes"], 2);
  EXPECT_THAT(files(), testing::ElementsAre("trace.json"));
  // The third one after all others have gone is added, too.
  run_a_task(*Recorder::start(file(), two_workers()), 0);
  EXPECT_EQ(spans(read(file())), 4);
}

TEST_F(RecorderTest, RuntimesMayAskForDifferentFiles) {
  run_a_task(*Recorder::start(file("a"), two_workers()), 0);
  run_a_task(*Recorder::start(file("b"), two_workers()), 0);
  EXPECT_EQ(spans(read(file("a"))), 1);
  EXPECT_EQ(spans(read(file("b"))), 1);
}

TEST_F(RecorderTest, ANeverDestroyedRuntimeIsWrittenAtExit) {
  int const status = in_child([&] {
    static auto* const r = Recorder::start(file(), two_workers()).release();
    run_a_task(*r, 0);
    return 7;
  });
  EXPECT_EQ(status, 7);
  EXPECT_EQ(spans(read(file())), 1);
}

TEST_F(RecorderTest, AnExitWithWorkersAtWorkWritesWholeEvents) {
  int const status = in_child([&] {
    static auto* const r = Recorder::start(file(), two_workers()).release();
    std::thread([] {
      // With rests, or it overwrites the whole ring while a thread that reads it has no cpu.
      for (int n = 1;; ++n) {
        run_a_task(*r, 1);
        if (n % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }).detach();
    while (r->track(1).events().events.size() < 1000) std::this_thread::yield();
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_GT(spans(read(file())), 10);
}

TEST_F(RecorderTest, AChildLeavesItsParentsFileAloneAndMakesItsOwn) {
  auto r = Recorder::start(file(), two_workers());
  run_a_task(*r, 0);
  EXPECT_EQ(in_child([] { return 0; }), 0);  // ends with its parent's recorder in memory
  EXPECT_EQ(spans(read(file())), 0);
  int const status = in_child([&] {
    r.reset();  // its parent's: not written
    auto mine = Recorder::start(file(), two_workers());
    for (int i = 0; i < 3; ++i) run_a_task(*mine, 0);
    mine.reset();
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(spans(read(file())), 0);
  ASSERT_EQ(files().size(), 2u);  // trace.json and trace.json.PID
  for (auto const& name : files()) {
    if (name != "trace.json") {
      EXPECT_EQ(spans(read(file(name.c_str()))), 3);
    }
  }
  r.reset();
  EXPECT_EQ(spans(read(file())), 1);
}

TEST_F(RecorderTest, AFileOfAProcessThatIsGoneIsWrittenAnew) {
  std::ofstream(file()) << std::string(10'000, 'x');
  run_a_task(*Recorder::start(file(), two_workers()), 0);
  EXPECT_EQ(spans(read(file())), 1);
}

TEST_F(RecorderTest, ARefusedFileIsOneLineAndNoRecorder) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/full", file("device"));
  for (std::string const& name :
       {folder.string(), file("no/such/folder.json"), file("device"), file("pipe")}) {
    CaptureStderr();
    EXPECT_EQ(Recorder::start(name, two_workers()), nullptr);
    EXPECT_EQ(Recorder::start(name, two_workers()), nullptr);  // not said again
    auto const said = GetCapturedStderr();
    EXPECT_THAT(said, HasSubstr("nigh: cannot write the trace " + name + ": "));
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

}  // namespace
}  // namespace nigh::trace
