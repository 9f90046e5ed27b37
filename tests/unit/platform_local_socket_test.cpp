// SPDX-License-Identifier: Apache-2.0
// A connection to a server that many others connect to as well.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "temporary_folder.hpp"

namespace nigh::platform {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class LocalSocket : public testing::Test {
 protected:
  void SetUp() override {
    listener_ = *listen_local(path_, Carries::messages, 0600);
  }
  void TearDown() override {
    for (int const socket : sockets_) close_descriptor(socket);
    close_descriptor(listener_);
  }
  int connect() {
    int const socket = connect_local(path_.c_str());
    if (socket >= 0) sockets_.push_back(socket);
    return socket;
  }
  // One connection may wait to be accepted, and one does.
  void fill() {
    ASSERT_EQ(::listen(listener_, 0), 0);
    ASSERT_GE(connect(), 0);
  }

  test::TemporaryFolder const folder_;
  std::filesystem::path const path_ = folder_.path() / "n.sock";
  int listener_ = -1;
  std::vector<int> sockets_;
};

TEST_F(LocalSocket, OfAnotherProgramStaysInItsPlace) {
  for (auto const what : {Carries::messages, Carries::bytes}) {
    auto const path = folder_.path() / "another.sock";
    int const others = *listen_local(path, what, 0600);
    for (auto const mine : {Carries::messages, Carries::bytes})
      EXPECT_FALSE(bind_local(path, mine, 0600));
    close_descriptor(others);
    auto const now = bind_local(path, what, 0600);
    ASSERT_TRUE(now);
    close_descriptor(*now);
  }
}

TEST_F(LocalSocket, HundredsOfConnectionsMayWaitToBeAccepted) {
  for (int i = 0; i < 400; ++i) ASSERT_GE(connect(), 0) << i;
}

TEST_F(LocalSocket, AConnectionWaitsForAPlaceAmongThem) {
  fill();
  std::thread server([this] {
    std::this_thread::sleep_for(5ms);
    sockets_.push_back(accept_local(listener_));
  });
  int const socket = connect_local(path_.c_str());
  server.join();
  ASSERT_GE(socket, 0);
  sockets_.push_back(socket);
  std::byte one{};
  EXPECT_EQ(receive_bytes(socket, {&one, 1}), -EAGAIN) << "from now on nothing waits";
}

TEST_F(LocalSocket, AConnectionDoesNotWaitForLong) {
  fill();
  auto const began = Clock::now();
  EXPECT_EQ(connect(), -EAGAIN);
  auto const took = Clock::now() - began;
  EXPECT_GE(took, 80ms);
  EXPECT_LT(took, 5s);
}

}  // namespace
}  // namespace nigh::platform
