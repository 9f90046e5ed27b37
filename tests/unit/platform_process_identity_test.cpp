// SPDX-License-Identifier: Apache-2.0
// Numbers of processes that are gone.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "platform/process_identity.hpp"
#include "temporary_folder.hpp"

namespace nigh::platform {
namespace {

TEST(ProcessIdentity, IsOfTheProcessThatHadTheNumber) {
  ProcessIdentity const self{::getpid(), start_of(::getpid())};
  EXPECT_NE(self.started, 0U);
  EXPECT_TRUE(self.is_there());
  EXPECT_EQ(self.look([] { return 7; }), 7);
  ProcessIdentity const before{::getpid(), self.started - 1};
  EXPECT_FALSE(before.is_there());
  EXPECT_FALSE(before.look([] { return 7; }));
  EXPECT_FALSE(ProcessIdentity{}.is_there());
  EXPECT_FALSE(self.has_ended());
  EXPECT_FALSE(ProcessIdentity{}.has_ended()) << "nobody knows";
  EXPECT_EQ(start_of(0), 0U);
  EXPECT_EQ(start_of(-1), 0U);
}

TEST(ProcessIdentity, TellsWhatIsFoundFromWhatAnotherProcessLeft) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t const child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::_exit(::read(ends[0], &byte, 1) == 1 ? 0 : 1);
  }
  ProcessIdentity const its{child, start_of(child)};
  EXPECT_TRUE(its.is_there());
  EXPECT_FALSE(its.has_ended());
  auto const found = its.look([&] {
    EXPECT_EQ(::write(ends[1], "x", 1), 1);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
    EXPECT_TRUE(its.has_ended()) << "before its parent has heard of it, too";
    ::waitpid(child, nullptr, 0);
    return 7;
  });
  EXPECT_TRUE(its.has_ended());
  EXPECT_FALSE(found) << "it was gone by then";
  ::close(ends[0]), ::close(ends[1]);
}

class PeerIdentity : public ::testing::Test {
 protected:
  void SetUp() override {
    listener_ = *listen_local(socket_, Carries::messages, 0600);
  }
  void TearDown() override { ::close(listener_); }
  test::TemporaryFolder const folder_;
  std::filesystem::path const socket_ = folder_.path() / "s";
  int listener_ = -1;
};

TEST_F(PeerIdentity, IsOfTheOneThatHasConnected) {
  int const ours = connect_local(socket_.c_str());
  ASSERT_GE(ours, 0);
  int const socket = accept_local(listener_);
  auto const peer = peer_of(socket);
  ASSERT_TRUE(peer);
  auto const who = identity_of_peer(socket, peer->pid);
  EXPECT_EQ(who.pid, ::getpid());
  EXPECT_EQ(who.started, start_of(::getpid()));
  close_descriptor(ours), close_descriptor(socket);
}

// It connects, leaves the connection to a child of its own, and is gone before anybody looks.
TEST_F(PeerIdentity, IsNobodysWhenItIsGone) {
  pid_t const child = ::fork();
  if (child == 0) ::_exit(connect_local(socket_.c_str()) >= 0 ? 0 : 1);
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  int const socket = accept_local(listener_);
  ASSERT_GE(socket, 0);
  auto const peer = peer_of(socket);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, child);
  EXPECT_FALSE(identity_of_peer(socket, peer->pid).is_there());
  close_descriptor(socket);
}

}  // namespace
}  // namespace nigh::platform
