// SPDX-License-Identifier: Apache-2.0
// A program that closes the descriptor of its connection, and has something else there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>

#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"
#include "running_server.hpp"

namespace nigh::coordinator {
namespace {


class CoordinatorDescriptors : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(program.join(server.options())); }

  // A test that hangs has failed.
  template <class Condition>
  void until(Condition is_so) {
    for (;;) {
      auto const status = query_status(server.socket());
      if (status && is_so(status->host)) return;
      ::usleep(1000);
    }
  }
  void until_programs(std::uint32_t count) {
    until([count](auto const& host) { return host.programs == count; });
  }
  // Closes `number`, as the shim's close() does.
  void close(int number) {
    auto const n = static_cast<unsigned>(number);
    bool const is_ours = program.begin_closing(n, n);
    EXPECT_TRUE(is_ours);
    EXPECT_EQ(::close(number), 0);
    if (is_ours) program.end_closing();
  }
  // Something of the program's own at the number: its other end.
  static int put_at(int number) {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    EXPECT_EQ(::dup2(pair[0], number), number);
    ::close(pair[0]);
    return pair[1];
  }
  static void expect_untouched(int number, int other_end) {
    char bytes[8];
    EXPECT_EQ(::recv(other_end, bytes, sizeof bytes, 0), -1);
    EXPECT_EQ(errno, EAGAIN) << "nothing was sent there, nor was it shut down";
    EXPECT_EQ(::send(other_end, "own", 3, MSG_NOSIGNAL), 3);
    EXPECT_EQ(::recv(number, bytes, sizeof bytes, 0), 3);
    ::close(number), ::close(other_end);
  }

  RunningServer server;
  ClientConnection program;
};

// fork() has the connection closed in the child.
TEST_F(CoordinatorDescriptors, AChildNotMadeByForkHoldsNoCpusForAProgramThatHasEnded) {
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  pid_t const holder = ::fork();
  if (holder == 0) {
    program.drop();
    ClientConnection its;
    LeaseClient client(its);
    its.join(server.options());
    if (client.enter(1, all_cpus).size != 8) ::_exit(1);
    pid_t const child = ::_Fork();
    if (child == 0)
      for (;;) ::pause();
    EXPECT_EQ(::write(told[1], &child, sizeof child), static_cast<ssize_t>(sizeof child));
    ::_exit(0);
  }
  ::close(told[1]);
  pid_t child = -1;
  ASSERT_EQ(::read(told[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ASSERT_EQ(::waitpid(holder, nullptr, 0), holder);
  until([](auto const& host) { return host.free == 8; });
  ::kill(child, SIGKILL);
  ::close(told[0]);
}

TEST_F(CoordinatorDescriptors, ItsNumberIsAHighOne) { EXPECT_GE(program.socket(), 200); }

TEST_F(CoordinatorDescriptors, AnAnnouncedCloseEndsTheLinkAtOnceAndTheNextRegionMakesAnother) {
  LeaseClient client(program);
  ASSERT_EQ(client.enter(1, all_cpus).size, 8u);
  client.leave(0);
  int const number = program.socket();
  int const copy = ::dup(number);  // somebody else may have one
  close(number);
  EXPECT_FALSE(program.is_joined());
  until_programs(0);
  int const other_end = put_at(number);
  EXPECT_EQ(client.enter(1, all_cpus).size, 8u);
  client.leave(0);
  EXPECT_NE(program.socket(), number);
  expect_untouched(number, other_end);
  ::close(copy);
}

TEST_F(CoordinatorDescriptors, OtherNumbersConcernItNot) {
  auto const number = static_cast<unsigned>(program.socket());
  EXPECT_FALSE(program.begin_closing(0, number - 1));
  EXPECT_FALSE(program.begin_closing(number + 1, UINT_MAX));
  EXPECT_FALSE(program.begin_closing(1, 0));
  EXPECT_TRUE(program.is_joined());
}

TEST_F(CoordinatorDescriptors, WhatWasPutThereUnannouncedIsLeftAlone) {
  LeaseClient client(program);
  ASSERT_EQ(client.enter(1, all_cpus).size, 8u);
  client.leave(0);
  int const number = program.socket();
  int const other_end = put_at(number);
  until_programs(0);
  // The lease has gone with the connection, which this region finds out.
  EXPECT_EQ(client.enter(1, all_cpus).size, 0u);
  EXPECT_EQ(client.enter(1, all_cpus).size, 8u);
  client.leave(0);
  EXPECT_NE(program.socket(), number);
  expect_untouched(number, other_end);
}

TEST_F(CoordinatorDescriptors, AnotherProcessHasItsNumbersForItself) {
  auto const number = static_cast<unsigned>(program.socket());
  pid_t const child = ::fork();
  if (child == 0) _exit(program.begin_closing(number, number) ? 1 : 0);
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(program.is_joined());
}

TEST_F(CoordinatorDescriptors, AChildThatDropsItLeavesItsOwnAlone) {
  int const number = program.socket();
  pid_t const child = ::fork();
  if (child == 0) {
    int const other_end = put_at(number);
    program.drop();
    expect_untouched(number, other_end);
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace nigh::coordinator
