// SPDX-License-Identifier: Apache-2.0
// Programs and a coordinator of another version of the protocol, older or newer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"
#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "running_server.hpp"

namespace nigh::coordinator {
namespace {

// A coordinator that refuses whoever comes, as each version does with those of others: in its own.
class ForeignCoordinator {
 public:
  ForeignCoordinator(std::string const& socket, std::uint16_t version)
      : listener_(*platform::listen_local(socket, platform::Carries::messages, 0600)),
        thread_([this, version] { serve(version); }) {}
  ~ForeignCoordinator() {
    is_ending_ = true;
    thread_.join();
    platform::close_descriptor(listener_);
  }
  int refused() const { return refused_; }

 private:
  void serve(std::uint16_t version) {
    auto const refusal = encode(CoordinatorMessage{Refusal{0, Refusal::Reason::foreign_version}});
    std::vector<std::byte> answer(refusal.bytes().begin(), refusal.bytes().end());
    answer[4] = static_cast<std::byte>(version & 0xff);
    answer[5] = static_cast<std::byte>(version >> 8);
    while (!is_ending_) {
      if (!platform::wait_until_readable(listener_, 1)) continue;
      int const socket = platform::accept_local(listener_);
      std::array<std::byte, largest_message> message;
      platform::wait_until_readable(socket, -1);
      EXPECT_GT(platform::receive_bytes(socket, message), 0);
      ++refused_;
      EXPECT_EQ(platform::send_message(socket, answer), 0);
      platform::close_descriptor(socket);
    }
  }

  int listener_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<int> refused_ = 0;
  std::thread thread_;
};

class Versions : public ::testing::TestWithParam<std::uint16_t> {};

TEST_P(Versions, ThatAreOthersAreNamedAndProgramsRunWithout) {
  RunningServer server;
  server.stop();
  ForeignCoordinator const foreign(server.socket(), GetParam());
  ClientConnection program;
  EXPECT_FALSE(program.join(server.options()));
  LeaseClient client(program);
  auto const team = client.enter(1, {4, 4});
  EXPECT_EQ(team.size, 0u);
  EXPECT_EQ(team.fallback, FallbackReason::foreign_version);
  client.leave(1000);
  EXPECT_EQ(foreign.refused(), 1) << "it is not asked again at every region";

  auto const status = query_status(server.socket());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(), "it speaks version " + std::to_string(GetParam()) +
                                  " of the protocol, and this nigh version " +
                                  std::to_string(protocol_version));
}

// nighd is replaced by another version's, and that by ours, under a program that goes on.
TEST_P(Versions, MayChangeUnderAProgram) {
  RunningServer server;
  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  LeaseClient client(program);
  ASSERT_EQ(client.enter(1, {4, 4}).size, 4u);
  server.stop();
  {
    ForeignCoordinator const foreign(server.socket(), GetParam());
    client.leave(2 * Report::every_ns);  // long enough to have a look at the connection
    EXPECT_EQ(client.enter(1, {4, 4}).fallback, FallbackReason::foreign_version);
    EXPECT_EQ(foreign.refused(), 1);
    client.leave(1000);
  }
  server.restart();
  while (client.enter(1, {4, 4}).size != 4) ::usleep(10'000);  // it looks once a second
  EXPECT_FALSE(program.found_foreign());
  client.leave(1000);
}

INSTANTIATE_TEST_SUITE_P(OlderAndNewer, Versions,
                         ::testing::Values(std::uint16_t{1}, std::uint16_t{2},
                                           std::uint16_t{protocol_version - 1},
                                           std::uint16_t{0x0102}));

}  // namespace
}  // namespace nigh::coordinator
