// SPDX-License-Identifier: Apache-2.0
// Processes that watch each other. They are children of the test, which carries the bytes that they
// exchange at the start, and then does things to them.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/watch/watch.hpp"

namespace nigh::cluster {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

void write_all(int socket, std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    auto const count = ::write(socket, bytes.data(), bytes.size());
    if (count <= 0) ::_exit(99);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}
void read_all(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    auto const count = ::read(socket, bytes.data(), bytes.size());
    if (count <= 0) ::_exit(99);  // the test is over
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

struct Ending {
  int status = 0;  // as waitpid() has it
  std::string said;
  bool exited_with(int code) const { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
};

// A job of processes, each with a watch.
class Job {
 public:
  // The settings that may differ from the usual.
  struct Options {
    char const* silence = "5";
    Time patience_us = 10'000'000;
    // Changes the exchanged cards, as rank 0 sees them first.
    std::function<void(std::vector<std::byte>&)> tamper = {};
  };

  explicit Job(int ranks) : Job(ranks, Options{}) {}
  Job(int ranks, Options options) {
    for (int r = 0; r < ranks; ++r) start(r, ranks, options);
    serve(options.tamper);  // cards
    serve({});              // who is connected
    serve({});              // all have begun
  }
  ~Job() {
    for (Rank& rank : ranks_) {
      if (rank.process > 0) ::kill(rank.process, SIGKILL), ::waitpid(rank.process, nullptr, 0);
      ::close(rank.socket);
      ::close(rank.errors);
    }
  }
  Job(Job&&) = delete;

  int size() const { return static_cast<int>(ranks_.size()); }
  void signal(int rank, int number) { ::kill(at(rank).process, number); }
  // 'x': _exit(0); 'l': leave, then exit(0); 'd': destroy the watch without leaving.
  void tell(int rank, char what) { write_all(at(rank).socket, std::as_bytes(std::span(&what, 1))); }

  bool is_running(int rank) {
    int status = 0;
    if (::waitpid(at(rank).process, &status, WNOHANG) == 0) return true;
    at(rank).process = 0;
    at(rank).status = status;
    return false;
  }
  // Empty: it did not end.
  std::optional<Ending> ending(int rank) {
    auto const until = Clock::now() + 60s;
    while (at(rank).process > 0 && is_running(rank)) {
      if (Clock::now() > until) return std::nullopt;
      std::this_thread::sleep_for(2ms);
    }
    Ending ending{at(rank).status, {}};
    std::array<char, 4096> text;
    for (ssize_t n; (n = ::read(at(rank).errors, text.data(), text.size())) > 0;)
      ending.said.append(text.data(), static_cast<std::size_t>(n));
    return ending;
  }

 private:
  struct Rank {
    pid_t process = 0;
    int socket = -1, errors = -1;
    int status = 0;
  };
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void start(int rank, int ranks, Options const& options) {
    std::array<int, 2> pair{}, errors{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    ASSERT_EQ(::pipe2(errors.data(), O_NONBLOCK), 0);
    pid_t const process = ::fork();
    if (process == 0) {
      ::dup2(errors[1], STDERR_FILENO);
      for (Rank const& other : ranks_) ::close(other.socket);
      ::close(pair[0]);
      live(rank, ranks, pair[1], options);
    }
    ::close(pair[1]);
    ::close(errors[1]);
    ranks_.push_back({process, pair[0], errors[0]});
  }

  [[noreturn]] static void live(int rank, int ranks, int socket, Options const& options) {
    ::setenv("NIGH_CLUSTER_SILENCE", options.silence, 1);
    Watch::Exchange const exchange = [=](std::span<std::byte const> mine) {
      auto const size = mine.size();
      write_all(socket, std::as_bytes(std::span(&size, 1)));
      write_all(socket, mine);
      std::vector<std::byte> all(size * static_cast<std::size_t>(ranks));
      read_all(socket, all);
      return all;
    };
    auto watch = Watch::start(rank, ranks, exchange, options.patience_us);
    if (!watch) {
      std::fprintf(stderr, "%s", watch.message().c_str());
      ::_exit(2);
    }
    exchange(std::array<std::byte, 1>{});
    for (char what = 0;;) {
      read_all(socket, std::as_writable_bytes(std::span(&what, 1)));
      if (what == 'x') ::_exit(0);
      if (what == 'l') (*watch)->leave();
      *watch = nullptr;
      if (what == 'l') ::_exit(0);
    }
  }

  // One exchange.
  void serve(std::function<void(std::vector<std::byte>&)> const& tamper) {
    std::vector<std::byte> all;
    for (Rank const& rank : ranks_) {
      std::size_t size = 0;
      if (::read(rank.socket, &size, sizeof size) != sizeof size) return;  // it has ended
      auto const before = all.size();
      all.resize(before + size);
      read_all(rank.socket, std::span(all).subspan(before));
    }
    if (tamper) tamper(all);
    for (Rank const& rank : ranks_) write_all(rank.socket, all);
  }

  std::vector<Rank> ranks_;
};

std::string host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string who(int rank) { return "rank " + std::to_string(rank) + " on " + host(); }

// All but the victim end with status 1 and say what is expected of them.
void expect_told(Job& job, int victim, std::string const& how) {
  for (int r = 0; r < job.size(); ++r) {
    if (r == victim) continue;
    auto const ending = job.ending(r);
    ASSERT_TRUE(ending) << "rank " << r << " has not ended";
    EXPECT_TRUE(ending->exited_with(1)) << ending->status;
    EXPECT_THAT(ending->said,
                testing::MatchesRegex("nigh: " + who(victim) + how + "; " + who(r) + " ends\n"));
  }
}

std::string const has_ended = " has ended without a word \\(silent for [0-9.]+ s\\)";
std::string const is_silent = " has been silent for [0-9.]+ s";

void kill_one(int ranks, int victim) {
  Job job(ranks);
  job.signal(victim, SIGKILL);
  expect_told(job, victim, has_ended);
}
void exit_one(int ranks, int victim) {
  Job job(ranks);
  job.tell(victim, 'x');
  expect_told(job, victim, has_ended);
}
void stop_one(int ranks, int victim) {
  Job job(ranks, {.silence = "1"});
  job.signal(victim, SIGSTOP);
  expect_told(job, victim, is_silent);
  job.signal(victim, SIGCONT);
  auto const ending = job.ending(victim);
  ASSERT_TRUE(ending && ending->exited_with(1)) << "it ends, too, when it goes on";
  EXPECT_THAT(ending->said, testing::MatchesRegex("nigh: " + who(victim) + " was silent for [0-9.]+ s: the others "
                                                  "end, and so does it\n"));
}

TEST(ClusterWatch, AKilledRankEndsAll) {
  for (int const ranks : {2, 3, 5}) kill_one(ranks, ranks / 2);
}
TEST(ClusterWatch, ARankThatExitsEarlyEndsAll) {
  for (int const ranks : {2, 4}) exit_one(ranks, 0);
}
TEST(ClusterWatch, AStoppedRankEndsAll) { stop_one(3, 1); }

TEST(ClusterWatch, DISABLED_FiftyAreKilled) {
  for (int i = 0; i < 50; ++i) kill_one(2 + i % 5, i % 2);
}
TEST(ClusterWatch, DISABLED_FiftyExitEarly) {
  for (int i = 0; i < 50; ++i) exit_one(2 + i % 5, i % 2);
}
TEST(ClusterWatch, DISABLED_FiftyAreStopped) {
  for (int i = 0; i < 50; ++i) stop_one(2 + i % 5, i % 2);
}

TEST(ClusterWatch, AWatchThatIsGoneIsARankThatIsGone) {
  Job job(3);
  job.tell(2, 'd');
  expect_told(job, 2, has_ended);
}

TEST(ClusterWatch, AllLeaveWhenTheLastDoes) {
  for (int const ranks : {1, 2, 5}) {
    Job job(ranks);
    for (int r = 1; r < ranks; ++r) job.tell(r, 'l');
    std::this_thread::sleep_for(100ms);
    for (int r = 0; r < ranks; ++r) EXPECT_TRUE(job.is_running(r));
    job.tell(0, 'l');
    for (int r = 0; r < ranks; ++r) {
      auto const ending = job.ending(r);
      ASSERT_TRUE(ending) << "rank " << r << " has not ended";
      EXPECT_TRUE(ending->exited_with(0)) << ending->status;
      EXPECT_EQ(ending->said, "");
    }
  }
}

void expect_all_can_leave(Job& job) {
  for (int r = 0; r < job.size(); ++r) job.tell(r, 'l');
  for (int r = 0; r < job.size(); ++r) {
    auto const ending = job.ending(r);
    ASSERT_TRUE(ending) << "rank " << r << " has not ended";
    EXPECT_TRUE(ending->exited_with(0)) << ending->status << ending->said;
  }
}

TEST(ClusterWatch, ARankMayBeAwayForTwoSeconds) {
  Job job(3);
  job.signal(1, SIGSTOP);
  std::this_thread::sleep_for(2s);
  job.signal(1, SIGCONT);
  expect_all_can_leave(job);
}

// As when a batch system suspends a job: nobody takes the others' absence for silence.
TEST(ClusterWatch, AllMayBeAwayForAnyTime) {
  Job job(3, {.silence = "1"});
  for (int r = 0; r < job.size(); ++r) job.signal(r, SIGSTOP);
  std::this_thread::sleep_for(1500ms);
  for (int r = 0; r < job.size(); ++r) job.signal(r, SIGCONT);
  std::this_thread::sleep_for(100ms);
  expect_all_can_leave(job);
}

TEST(ClusterWatch, WhoCannotConnectIsNamedAndNotWatched) {
  // Rank 1's port, and rank 2's, to one where nobody listens.
  auto const close_ports = [](std::vector<std::byte>& cards) {
    std::uint16_t const nobody = 1;
    for (std::size_t const rank : {1U, 2U})
      std::memcpy(&cards[rank * sizeof(Card) + offsetof(Card, port)], &nobody, sizeof nobody);
  };
  Job job(4, {.patience_us = 200'000, .tamper = close_ports});
  job.signal(1, SIGKILL);
  std::this_thread::sleep_for(100ms);
  for (int r : {0, 2, 3}) job.tell(r, 'l');
  for (int r : {0, 2, 3}) {
    auto const ending = job.ending(r);
    ASSERT_TRUE(ending) << "rank " << r << " has not ended";
    EXPECT_TRUE(ending->exited_with(0)) << ending->status;
    EXPECT_EQ(ending->said, r > 0 ? ""
                                  : "nigh: " + who(0) + " and " + who(1) +
                                        " cannot connect (nor can 1 more): they do not watch "
                                        "each other\n");
  }
}

TEST(ClusterWatch, MayBeSwitchedOff) {
  Job job(2, {.silence = "0"});
  job.signal(1, SIGKILL);
  std::this_thread::sleep_for(100ms);
  EXPECT_TRUE(job.is_running(0));
  job.tell(0, 'l');
  auto const ending = job.ending(0);
  EXPECT_TRUE(ending && ending->exited_with(0));
}

TEST(ClusterWatch, RefusesWhatIsNoTime) {
  for (char const* const silence : {"soon", "", "-1", "0.05", "1e9", "5s", "nan"}) {
    Job job(2, {.silence = silence});
    for (int r = 0; r < job.size(); ++r) {
      auto const ending = job.ending(r);
      ASSERT_TRUE(ending);
      EXPECT_TRUE(ending->exited_with(2));
      EXPECT_EQ(ending->said,
                "NIGH_CLUSTER_SILENCE of rank 0 is not a number of seconds from 0.1 to 86400, or 0 "
                "for no watch");
    }
  }
}

}  // namespace
}  // namespace nigh::cluster
