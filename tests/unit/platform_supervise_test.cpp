// SPDX-License-Identifier: Apache-2.0
// ^Z while a program is measured: the time of the stop does not count.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nigh/result.hpp>
#include <optional>

#include "platform/launch.hpp"

namespace {

using namespace nigh::platform;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Times {
  double all, measured;
};

using Run = nigh::result<Ending> (*)(Launch const&);

// In a process of its own group, which is stopped once the program runs.
void expect_the_stop_is_left_out(Run run) {
  int ready[2], told[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(told), 0);
  auto const measures = fork();
  if (measures == 0) {
    setpgid(0, 0);
    Launch launch;
    launch.words = {"sh", "-c", "echo >&" + std::to_string(ready[1]) + "; exec sleep 0.3"};
    auto const start = Clock::now();
    auto const ending = run(launch);
    Times const times{seconds_since(start), ending ? ending->seconds : -1};
    _exit(write(told[1], &times, sizeof times) == sizeof times ? 0 : 1);
  }
  char line = 0;
  ASSERT_EQ(read(ready[0], &line, 1), 1);
  kill(measures, SIGTSTP);
  int status = 0;
  ASSERT_EQ(waitpid(measures, &status, WUNTRACED), measures);
  ASSERT_TRUE(WIFSTOPPED(status));
  auto const stopped = Clock::now();
  usleep(400'000);
  auto const stopped_seconds = seconds_since(stopped);
  kill(measures, SIGCONT);
  ASSERT_EQ(waitpid(measures, &status, 0), measures);
  Times times{};
  ASSERT_EQ(read(told[0], &times, sizeof times), static_cast<ssize_t>(sizeof times));
  EXPECT_GE(times.measured, 0);
  EXPECT_LE(times.measured, times.all - stopped_seconds);
  for (int const end : {ready[0], ready[1], told[0], told[1]}) close(end);
}

TEST(Supervise, TheTimeOfAStopIsNotTheProgramsWhenItIsMeasured) {
  expect_the_stop_is_left_out(
      [](Launch const& launch) { return run_measured(launch, "/dev/null", std::nullopt); });
}

TEST(Supervise, TheTimeOfAStopIsNotTheProgramsWhenItIsSupervised) {
  expect_the_stop_is_left_out([](Launch const& launch) { return run_supervised(launch, {}); });
}

}  // namespace
