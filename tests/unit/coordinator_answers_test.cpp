// SPDX-License-Identifier: Apache-2.0
// How a server answers: where, when its files take long, and what programs make of no answer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"
#include "platform/local_socket.hpp"
#include "platform/shared_memory.hpp"
#include "running_server.hpp"

namespace nigh::coordinator {
namespace {

// A program that is not our client, and its page's descriptor.
struct ForeignClient {
  explicit ForeignClient(ConnectionOptions const& options)
      : connection(platform::connect_local(options.socket)) {
    send(Register{.pid = 1, .name = Name("foreign"), .allowed = options.allowed});
    platform::wait_until_readable(connection, -1);
    welcome = platform::receive_message(connection, bytes);
  }
  ~ForeignClient() {
    platform::close_descriptor(welcome.passed);
    platform::close_descriptor(connection);
  }
  void send(ProgramMessage const& message) const {
    EXPECT_EQ(platform::send_message(connection, encode(message).bytes()), 0);
  }
  std::optional<Grant> hear_grant(int timeout_ms) {
    if (!platform::wait_until_readable(connection, timeout_ms)) return {};
    int const size = platform::receive_bytes(connection, bytes);
    if (size < 0) return {};
    auto const decoded = decode_from_coordinator({bytes.data(), static_cast<std::size_t>(size)});
    return std::get<Grant>(std::get<CoordinatorMessage>(decoded));
  }

  int connection;
  std::array<std::byte, largest_message> bytes{};
  platform::ArrivedMessage welcome{};
};

TEST(CoordinatorAnswers, AreInThePageForWhoIsAwakeAndElseMessages) {
  RunningServer server;
  ForeignClient foreign(server.options());
  ASSERT_GE(foreign.welcome.passed, 0);
  auto* const page =
      static_cast<LeasePage*>(platform::map_shared(foreign.welcome.passed, sizeof(LeasePage)));
  ASSERT_NE(page, nullptr);
  auto& answer = page->answer_to(5);
  answer.word.await(5);
  foreign.send(Request{.region = 1, .ticket = 5, .demand = {2, 2}});
  while (!answer.word.is_answered(5)) ::usleep(1000);
  auto const first = answer.get(5);
  ASSERT_TRUE(first.is_valid());
  EXPECT_EQ(first.team.size(), 2);
  EXPECT_FALSE(foreign.hear_grant(20)) << "no message as well";

  answer.word.await(5 + 2 * lease_slots);  // it does not wait for what it asks for
  foreign.send(
      Request{.region = 1, .ticket = 5 + lease_slots, .demand = {3, 3}, .returned = first.lease});
  auto const second = foreign.hear_grant(-1);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->ticket, 5 + lease_slots);
  EXPECT_EQ(second->team.size(), 3);
  EXPECT_FALSE(answer.word.is_answered(5 + lease_slots));
  platform::unmap_shared(page, sizeof(LeasePage));
}

TEST(Answer, OfWhoIsNoCoordinatorGrantsNothing) {
  auto const answer = std::make_unique<Answer>();
  EXPECT_FALSE(answer->get(1).is_valid()) << "no lease, no cpus";
  answer->lease = 1, answer->size = 2, answer->cpus[1] = 3;
  EXPECT_TRUE(answer->get(1).is_valid());
  answer->cpus[1] = 0;
  EXPECT_FALSE(answer->get(1).is_valid()) << "a cpu twice";
  answer->cpus[1] = max_cpus;
  EXPECT_FALSE(answer->get(1).is_valid());
  answer->size = max_cpus + 1;
  EXPECT_FALSE(answer->get(1).is_valid());
}

TEST(CoordinatorAnswers, SayWhyARegionHasNoCpus) {
  RunningServer server;
  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  std::deque<LeaseClient> clients;
  for (std::uint32_t i = 0; i < lease_slots; ++i) {
    auto const team = clients.emplace_back(program).enter(1, {0, 1});
    EXPECT_EQ(team.fallback, FallbackReason::refused) << "that is no demand";
  }
  LeaseClient one_more(program);
  EXPECT_EQ(one_more.enter(1, {1, 1}).fallback, FallbackReason::too_many_threads);
}

// A trial's first run that takes far too long is its last.
TEST(CoordinatorAnswers, LeadToNoMoreRunsOfATrialThatTakesTooLong) {
  RunningServer server;
  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  LeaseClient client(program);
  auto const run = [&](std::uint64_t duration_ns) {
    auto const size = client.enter(1, {}).size;
    client.leave(size == 8 ? duration_ns : 100 * duration_ns);
    return size;
  };
  int runs = 0;
  while (run(Report::every_ns) == 8 && ++runs < 20'000) {
    if (runs % 50 != 0) continue;
    ASSERT_TRUE(query_status(server.socket()));  // reports have been read
  }
  ASSERT_LT(runs, 20'000) << "there was a trial";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(run(Report::every_ns), 8U) << i;
}

// A disk that others keep busy may hold a file up for seconds.
TEST(CoordinatorAnswers, DoNotWaitForProfilesThatAreReadOrWritten) {
  std::promise<void> disk;
  auto const is_idle_again = disk.get_future().share();
  std::atomic<int> remembered = 0;
  RunningServer server({}, 1000,
                       {.recall =
                            [&](KnownProgram const& program) {
                              is_idle_again.wait();
                              return Recollection{program,
                                                  {{.id = 1, .is_fixed = true, .demand = {3, 3}}}};
                            },
                        .look = {},
                        .remember =
                            [&](KnownProgram const&, std::vector<KnownRegion> const&) {
                              is_idle_again.wait();
                              ++remembered;
                            }});
  auto options = server.options();
  options.binary = 17;
  for (int i = 0; i < 2; ++i) {
    ClientConnection program;
    ASSERT_TRUE(program.join(options));
    LeaseClient client(program);
    EXPECT_EQ(client.enter(1, {}).size, 8u);
    client.leave(2 * Report::every_ns);
  }
  disk.set_value();
  ClientConnection program;
  ASSERT_TRUE(program.join(options));
  LeaseClient client(program);
  EXPECT_EQ(client.enter(1, {}).size, 3u);
  client.leave(1000);
  server.stop();
  EXPECT_GE(remembered, 2) << "and nothing is lost";
}

}  // namespace
}  // namespace nigh::coordinator
