// SPDX-License-Identifier: Apache-2.0
// The answers to questions for a status, and the number of lines that the log gets, whatever other
// users do.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <variant>
#include <vector>

#include "coordinator/client/connection.hpp"
#include "coordinator/client/status.hpp"
#include "coordinator/protocol/codec.hpp"
#include "coordinator/server/line_rate.hpp"
#include "coordinator/server/status_snapshots.hpp"
#include "platform/local_socket.hpp"
#include "running_server.hpp"

namespace nigh::coordinator {
namespace {

// Programs of which each has its number; the host's figure changes each time.
class Host {
 public:
  StatusSnapshots::Snapshot take() {
    ++taken;
    StatusSnapshots::Snapshot all;
    for (auto const number : programs) all.push_back({.grants = taken, .program = number});
    all.push_back({.grants = taken});
    return all;
  }
  Status ask(Connection from, std::uint32_t number, unsigned user = 1) {
    return snapshots.answer(from, user, number, now, [this] { return take(); });
  }
  // As nigh status does.
  std::vector<std::uint32_t> walk(Connection from, unsigned user = 1) {
    std::vector<std::uint32_t> seen;
    for (std::uint32_t next = 0;; next = seen.back() + 1) {
      auto const status = ask(from, next, user);
      if (status.program == 0) return seen;
      seen.push_back(status.program);
    }
  }

  StatusSnapshots snapshots;
  std::vector<std::uint32_t> programs{3, 5, 9};
  std::uint64_t taken = 0;
  Time now = 1'000'000;
};

// Time passes while one is taken, and connections that do not read are closed.
TEST(StatusSnapshots, MayLoseTheirReaderWhileTheyAreTaken) {
  Host host;
  host.ask(1, 0);
  host.ask(2, 0);
  host.now += 10'000'000;
  auto const status = host.snapshots.answer(1, 1, 0, host.now, [&] {
    host.snapshots.forget(1, 1);
    host.snapshots.forget(2, 1);
    return host.take();
  });
  EXPECT_EQ(status.program, 3U);
  EXPECT_EQ(host.ask(1, 4).program, 5U);
}

TEST(StatusSnapshots, AreOfOneMoment) {
  Host host;
  EXPECT_EQ(host.ask(1, 0).program, 3U);
  host.programs = {4};  // meanwhile
  EXPECT_EQ(host.ask(1, 4).program, 5U);
  EXPECT_EQ(host.ask(1, 6).program, 9U);
  auto const last = host.ask(1, 10);
  EXPECT_EQ(last.program, 0U);
  EXPECT_EQ(last.grants, 1U);
  EXPECT_EQ(host.taken, 1U);
  EXPECT_EQ(host.walk(1), std::vector<std::uint32_t>{4}) << "the next one is of another";
}

TEST(StatusSnapshots, AreTheirOwnForEachThatAsks) {
  Host host;
  EXPECT_EQ(host.ask(1, 0).grants, 1U);
  EXPECT_EQ(host.ask(2, 0).grants, 2U);
  EXPECT_EQ(host.ask(1, 4).grants, 1U);
  EXPECT_EQ(host.ask(1, 0).grants, 3U) << "it begins again";
  host.snapshots.forget(2, 1);
  EXPECT_EQ(host.ask(2, 4).grants, 3U) << "it goes on with the last one";
}

TEST(StatusSnapshots, OfAUserAreFewAndCostOthersNothing) {
  Host host;
  EXPECT_EQ(host.ask(1, 0, 7).grants, 1U);
  for (Connection c = 2; c < 100; ++c) host.ask(c, 0, 8);
  auto const before = host.taken;
  EXPECT_EQ(host.ask(1, 4, 7).grants, 1U);
  EXPECT_EQ(host.ask(99, 4, 8).grants, before);
  EXPECT_EQ(host.taken, before);
  EXPECT_EQ(host.ask(2, 4, 8).program, 5U) << "it was forgotten, and goes on";
  EXPECT_EQ(host.taken, before) << "with what was taken last";
}

// As nigh status does five times at once, a question of each in turn.
TEST(StatusSnapshots, OfManyReadersOfAUserAreTakenOnceForEach) {
  Host host;
  host.programs.clear();
  for (std::uint32_t n = 1; n <= 100; ++n) host.programs.push_back(n);
  constexpr Connection readers = 5;
  for (std::uint32_t next = 0; next <= 100; ++next)
    for (Connection c = 1; c <= readers; ++c)
      EXPECT_EQ(host.ask(c, next).program, std::max(next, 1U));
  EXPECT_EQ(host.taken, readers);
}

TEST(StatusSnapshots, HaveABudgetByUser) {
  Host host;
  host.programs.clear();
  for (std::uint32_t n = 1; n <= 1000; ++n) host.programs.push_back(n);
  for (int i = 0; i < 10'000; ++i) host.ask(1, 0, 8);
  EXPECT_LE(host.taken, 60U) << "what was taken last is said again";
  auto const before = host.taken;
  host.ask(2, 0, 7);
  EXPECT_EQ(host.taken, before + 1) << "another user has its own";
  host.now += 2'000'000;
  host.ask(1, 0, 8);
  EXPECT_EQ(host.taken, before + 2);
}

TEST(LineRate, SaysSoManyASecondAndCountsTheRest) {
  LineRate lines(3);
  int said = 0;
  for (int i = 0; i < 100; ++i) said += lines.may_say(5) ? 1 : 0;
  EXPECT_EQ(said, 3);
  EXPECT_EQ(lines.due(), 5 + LineRate::window_us);
  EXPECT_EQ(lines.take_unsaid(), 97U);
  EXPECT_FALSE(lines.due());
  EXPECT_TRUE(lines.may_say(5 + LineRate::window_us));
  EXPECT_FALSE(lines.due());
}

// Programs come between the questions of one that asks.
TEST(RunningStatus, IsOfTheMomentOfItsFirstQuestion) {
  RunningServer server;
  auto const programs = [&] { return query_status(server.socket())->host.programs; };
  ClientConnection one, two;
  ASSERT_TRUE(one.join(server.options()));
  while (programs() != 1) ::usleep(1000);
  int const socket = platform::connect_local(server.socket().c_str());
  auto const ask = [&](std::uint32_t number) {
    EXPECT_EQ(platform::send_message(socket, encode(ProgramMessage{Query{number}}).bytes()), 0);
    EXPECT_TRUE(platform::wait_until_readable(socket, 60'000));
    std::array<std::byte, largest_message> bytes;
    int const size = platform::receive_bytes(socket, bytes);
    auto const message = decode_from_coordinator(
        std::span(bytes).first(static_cast<std::size_t>(std::max(0, size))));
    auto const* const said = std::get_if<CoordinatorMessage>(&message);
    EXPECT_TRUE(said != nullptr && std::holds_alternative<Status>(*said));
    return said != nullptr ? std::get<Status>(*said) : Status{};
  };
  auto const first = ask(0);
  EXPECT_NE(first.program, 0U);
  ASSERT_TRUE(two.join(server.options()));
  while (programs() != 2) ::usleep(1000);
  auto const second = ask(first.program + 1);
  EXPECT_EQ(second.program, 0U) << "the other one came later";
  EXPECT_EQ(second.programs, 1U);
  EXPECT_EQ(second.up_us, first.up_us);
  EXPECT_EQ(ask(0).programs, 2U);
  platform::close_descriptor(socket);
}

// However many lines that takes; LineRate says.
TEST(RunningLog, TellsOfAllThatComeAndLeave) {
  RunningServer server;
  constexpr int runs = 200;
  for (int i = 0; i < runs; ++i) {
    ClientConnection program;
    ASSERT_TRUE(program.join(server.options()));
  }
  while (server.told_moves() != 2 * runs) ::usleep(1000);
}

}  // namespace
}  // namespace nigh::coordinator
