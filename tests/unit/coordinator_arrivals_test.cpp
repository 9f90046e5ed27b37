// SPDX-License-Identifier: Apache-2.0
// Programs that connect while one user connects all the time.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/server/sockets.hpp"
#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "temporary_folder.hpp"

namespace nigh::coordinator {
namespace {

class Arrivals : public testing::Test {
 protected:
  void SetUp() override {
    options_.listener = *platform::listen_local(socket_, platform::Carries::messages, 0600);
  }
  void TearDown() override {
    for (int const socket : clients_) platform::close_descriptor(socket);
  }
  void connect(int clients) {
    for (int i = 0; i < clients; ++i) {
      clients_.push_back(platform::connect_local(socket_.c_str()));
      ASSERT_GE(clients_.back(), 0);
    }
  }
  // A turn of the server's loop; the connections that have said something, which all of them do.
  std::size_t turn(Sockets& sockets) {
    sockets.wait(0);
    sockets.let_in_new();
    std::byte const word{1};
    for (int const socket : clients_) platform::send_message(socket, {&word, 1});
    std::size_t let_in = 0;
    for (auto news = sockets.wait(0); !news.readable.empty(); news = sockets.wait(0))
      for (auto const connection : news.readable) sockets.close(connection), ++let_in;
    return let_in;
  }

  test::TemporaryFolder const folder_;
  std::filesystem::path const socket_ = folder_.path() / "n.sock";
  SocketOptions options_;
  ServerLog log_{{}};
  std::vector<int> clients_;
};

TEST_F(Arrivals, ManyAreLetInAtOnceAndThenOthersAreRead) {
  auto sockets = Sockets::open(options_, log_).value();
  connect(100);
  EXPECT_EQ(turn(sockets), 64u);
  EXPECT_EQ(turn(sockets), 36u);
}

// As a user does that connects and leaves all the time.
TEST_F(Arrivals, ThatHaveLeftAreNotLetIn) {
  auto sockets = Sockets::open(options_, log_).value();
  std::byte const word{1};
  connect(200);
  for (int const socket : std::exchange(clients_, {})) {
    EXPECT_EQ(platform::send_message(socket, {&word, 1}), 0);
    platform::close_descriptor(socket);
  }
  connect(10);
  EXPECT_EQ(turn(sockets), 10u) << "nor do they hold up others";
  EXPECT_TRUE(sockets.empty());
}

TEST_F(Arrivals, BeyondALimitAreTurnedAwayWithoutHoldingUpTheNext) {
  options_.connections_of_a_user = 3;
  auto sockets = Sockets::open(options_, log_).value();
  connect(60);
  EXPECT_EQ(turn(sockets), 3u);
  connect(2);
  EXPECT_EQ(turn(sockets), 2u) << "of a user whose programs have left";
}

}  // namespace
}  // namespace nigh::coordinator
