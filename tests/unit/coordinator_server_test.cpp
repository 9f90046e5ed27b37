// SPDX-License-Identifier: Apache-2.0
// A server and programs, with real sockets and shared memory.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"
#include "coordinator/server/server.hpp"
#include "platform/local_socket.hpp"
#include "platform/process_identity.hpp"
#include "platform/service.hpp"
#include "platform/shared_memory.hpp"
#include "running_server.hpp"

namespace nigh::coordinator {
namespace {


class CoordinatorServer : public ::testing::Test {
 protected:
  // Looks again and again, as often as it takes; a test that hangs has failed.
  template <class Condition>
  static void until(Condition condition) {
    while (!condition()) ::usleep(1000);
  }
  HostStatus status() {
    auto s = query_status(server.socket());
    EXPECT_TRUE(s) << s.message();
    return s ? *s : HostStatus{};
  }
  std::uint32_t free() { return status().host.free; }

  // A process of its own that holds cpus until it is killed; returns when it has them.
  pid_t holder() {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_t const child = ::fork();
    if (child == 0) {
      ClientConnection program;
      LeaseClient client(program);
      program.join(server.options());
      char const has = client.enter(1, all_cpus).size > 0;
      EXPECT_EQ(::write(ready[1], &has, 1), 1);
      for (;;) ::pause();
    }
    char has = 0;
    EXPECT_EQ(::read(ready[0], &has, 1), 1);
    EXPECT_EQ(has, 1);
    ::close(ready[0]), ::close(ready[1]);
    return child;
  }
  static void kill(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  RunningServer server;
};

TEST_F(CoordinatorServer, TellsWhoseProcessAProgramIsAndWhenItBegan) {
  auto const child = holder();
  auto const programs = status().programs;
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs[0].pid, static_cast<std::uint32_t>(child));
  EXPECT_EQ(programs[0].user, ::geteuid());
  EXPECT_NE(programs[0].started, 0u);
  EXPECT_EQ(programs[0].started, platform::start_of(child));
  kill(child);
}

TEST_F(CoordinatorServer, TellsOfTheTasksThatProgramsCount) {
  ClientConnection one, other;
  ASSERT_TRUE(one.join(server.options()) && other.join(server.options()));
  one.tell_tasks(3, 1);
  other.tell_tasks(~std::uint64_t{0}, 7);
  auto const all = status().programs;
  EXPECT_EQ(std::pair(all.at(0).tasks, all.at(0).stolen), std::pair(3ul, 1ul));
  EXPECT_EQ(std::pair(all.at(1).tasks, all.at(1).stolen), std::pair(~0ul, 7ul));
}

TEST_F(CoordinatorServer, GrantsAllCpusAndKeepsTheLease) {
  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  LeaseClient client(program);
  auto const first = client.enter(1, all_cpus);
  ASSERT_EQ(first.size, 8u);
  EXPECT_EQ(free(), 0u);
  client.leave(1000);
  auto const grants = status().host.grants;
  for (int i = 0; i < 1000; ++i) {
    auto const again = client.enter(static_cast<RegionId>(i), all_cpus);
    EXPECT_EQ(again.size, 8u);
    EXPECT_EQ(again.version, first.version);
    client.leave(1000);
  }
  EXPECT_EQ(status().host.grants, grants) << "a region that is entered again needs no message";
}

TEST_F(CoordinatorServer, GivesRegionsThatUseFewerThreadsTheFirstOfTheLease) {
  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  LeaseClient client(program);
  auto const large = client.enter(1, all_cpus);
  client.leave(1000);
  auto const small = client.enter(2, {2, 2});
  EXPECT_EQ(small.size, 2u);
  EXPECT_EQ(small.version, large.version);
  client.leave(1000);
  EXPECT_EQ(status().host.grants, 1u);
}

TEST_F(CoordinatorServer, TellsProgramsHowManyThereAre) {
  ClientConnection one;
  EXPECT_EQ(one.programs(), 0u);
  ASSERT_TRUE(one.join(server.options()));
  EXPECT_EQ(one.programs(), 1u);
  {
    ClientConnection other;
    ASSERT_TRUE(other.join(server.options()));
    EXPECT_EQ(one.programs(), 2u);
    EXPECT_EQ(other.programs(), 2u);
  }
  until([&] { return one.programs() == 1; });
}

TEST_F(CoordinatorServer, TakesIdleLeasesBackWithoutTheProgram) {
  ClientConnection one, other;
  ASSERT_TRUE(one.join(server.options()) && other.join(server.options()));
  LeaseClient first(one), second(other);
  ASSERT_EQ(first.enter(1, all_cpus).size, 8u);
  first.leave(1000);
  EXPECT_GE(second.enter(1, all_cpus).size, 4u) << "an equal part, though the first one does nothing";
  second.leave(1000);
  EXPECT_GE(first.enter(1, all_cpus).size, 4u);
  first.leave(1000);
}

TEST_F(CoordinatorServer, TakesIdleLeasesBackBeforeTheirSliceHasPassed) {
  constexpr Time an_hour = 3'600'000'000;
  RunningServer patient({}, an_hour);
  ClientConnection one, other;
  ASSERT_TRUE(one.join(patient.options()) && other.join(patient.options()));
  LeaseClient first(one), second(other);
  ASSERT_EQ(first.enter(1, all_cpus).size, 8u);
  first.leave(1000);
  EXPECT_GE(second.enter(1, all_cpus).size, 4u);
  second.leave(1000);
}

// One that has no regions: it is told by message, and gives back and asks in one.
TEST_F(CoordinatorServer, TellsThoseThatListenAndSwapsTheirLease) {
  ClientConnection listens, other;
  auto options = server.options();
  options.listens = true;
  ASSERT_TRUE(listens.join(options) && other.join(server.options()));
  LeaseClient first(listens);
  ASSERT_EQ(first.exchange(0, {}).size, 8u);
  EXPECT_TRUE(first.is_kept());
  std::thread second([&] {
    LeaseClient client(other);
    EXPECT_EQ(client.enter(1, all_cpus).size, 4u);
    client.leave(1000);
  });
  EXPECT_TRUE(platform::wait_until_readable(listens.socket(), 60'000));
  listens.look();
  EXPECT_FALSE(first.is_kept());
  EXPECT_FALSE(first.pause());
  EXPECT_EQ(first.exchange(0, {}).size, 4u);
  second.join();
  EXPECT_EQ(status().host.grants, 3u);
}

TEST_F(CoordinatorServer, APausedLeaseIsTakenWithoutAWord) {
  ClientConnection listens, other;
  auto options = server.options();
  options.listens = true;
  ASSERT_TRUE(listens.join(options) && other.join(server.options()));
  LeaseClient first(listens), second(other);
  ASSERT_EQ(first.exchange(0, {}).size, 8u);
  EXPECT_TRUE(first.pause());
  EXPECT_TRUE(first.resume());
  EXPECT_TRUE(first.pause());
  EXPECT_GE(second.enter(1, all_cpus).size, 4u);
  EXPECT_FALSE(first.resume());
  EXPECT_FALSE(first.is_kept());
  second.leave(1000);
  EXPECT_GE(first.exchange(0, {}).size, 4u);
  first.give_back();
  until([&] { return free() >= 4; });
}

TEST_F(CoordinatorServer, WhoClosesWaitsForNoCpus) {
  ClientConnection busy, closed;
  ASSERT_TRUE(busy.join(server.options()) && closed.join(server.options()));
  LeaseClient holds(busy), waits(closed);
  ASSERT_EQ(holds.enter(1, all_cpus).size, 8u);
  std::thread waiting([&] { EXPECT_EQ(waits.enter(1, all_cpus).size, 0u); });
  until([&] { return status().host.waiting == 1; });
  closed.close();
  waiting.join();
  EXPECT_EQ(waits.enter(1, all_cpus).size, 0u);
}

TEST_F(CoordinatorServer, WaitsForTheEndOfARegionAndNoLonger) {
  ClientConnection one, other;
  ASSERT_TRUE(one.join(server.options()) && other.join(server.options()));
  LeaseClient first(one), second(other);
  ASSERT_EQ(first.enter(1, all_cpus).size, 8u);
  std::atomic<bool> began = false;
  std::thread waiting([&] {
    EXPECT_GE(second.enter(1, all_cpus).size, 4u);
    began = true;
    second.leave(1000);
  });
  until([&] { return status().host.revocations > 0; });
  EXPECT_FALSE(began);
  first.leave(1000);
  waiting.join();
}

TEST_F(CoordinatorServer, GivesAnswersToTheThreadsTheyAreFor) {
  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  std::vector<std::thread> threads;
  std::atomic<int> regions = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        LeaseClient client(program);
        for (std::uint32_t i = 1; i <= 5; ++i) {
          auto const team = client.enter(static_cast<RegionId>(t), {i % 3 + 1, 1});
          EXPECT_TRUE(0 < team.size && team.size <= i % 3 + 1);
          if (team.size > 0) ++regions;
          client.leave(1000);
        }
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(regions, 4 * 20 * 5);
  EXPECT_EQ(free(), 8u);
}

// No descriptor is left for the program's end, either, once it has its own: so the socket is made
// before.
TEST_F(CoordinatorServer, TurnsProgramsAwayForWantOfDescriptors) {
  std::array<std::byte, largest_message> bytes;
  auto const answered = [&](int socket) {
    EXPECT_TRUE(platform::wait_until_readable(socket, 10'000));
    auto const arrived = platform::receive_message(socket, bytes);
    auto const decoded =
        decode_from_coordinator({bytes.data(), static_cast<std::size_t>(arrived.size)});
    auto const& message = std::get<CoordinatorMessage>(decoded);
    auto const* const refusal = std::get_if<Refusal>(&message);
    return refusal != nullptr && refusal->reason == Refusal::Reason::too_many_programs;
  };
  std::array<int, 3> sockets{};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  server.socket().copy(address.sun_path, sizeof address.sun_path - 1);
  for (int& socket : sockets) socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit const few{64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> taken_up;
  for (int taken; (taken = ::dup(0)) >= 0;) taken_up.push_back(taken);
  ASSERT_EQ(errno, EMFILE);
  for (int const socket : sockets) {
    auto const* const generic = reinterpret_cast<sockaddr const*>(&address);
    ASSERT_EQ(::connect(socket, generic, sizeof address), 0);
    EXPECT_TRUE(answered(socket));
  }
  for (int const taken : taken_up) ::close(taken);
  for (int const socket : sockets) ::close(socket);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(server.warnings(), 1);
  EXPECT_EQ(free(), 8u);  // it lets in who comes now
}

// Memory to share is a file to the kernel, and none may have a byte now.
TEST_F(CoordinatorServer, LetsProgramsRunWithoutWhenNoMemoryCanBeShared) {
  platform::refuse_without_signals();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit const none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  ClientConnection program, other;
  bool const joined = program.join(server.options()), joined_too = other.join(server.options());
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(joined || joined_too);
  EXPECT_EQ(server.warnings(), 1);
  EXPECT_TRUE(other.join(server.options()));
}

TEST_F(CoordinatorServer, TakesBackWhatKilledProgramsHeld) {
  for (int i = 0; i < 20; ++i) {
    auto const child = holder();
    EXPECT_EQ(free(), 0u);
    kill(child);
    until([&] { return free() == 8; });
  }
}

TEST_F(CoordinatorServer, EndsTheLeaseOfWhoNeverReleases) {
  auto const child = holder();
  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  LeaseClient client(program);
  EXPECT_GE(client.enter(1, all_cpus).size, 4u) << "after `overdue`";
  client.leave(1000);
  kill(child);
}

TEST_F(CoordinatorServer, LeavesChildrenWithoutAndParentsWithTheirLeases) {
  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  LeaseClient client(program);
  ASSERT_EQ(client.enter(1, all_cpus).size, 8u);
  pid_t const child = ::fork();
  if (child == 0) {
    program.drop();
    client.leave(1000);
    bool const has_none = !program.is_joined() && client.enter(1, all_cpus).size == 0;
    ::_exit(has_none ? 0 : 1);
  }
  int ended = -1;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(free(), 0u);
  client.leave(1000);
  EXPECT_EQ(client.enter(1, all_cpus).size, 8u);
  client.leave(1000);
}

// The server's answer to these bytes, and whether it hangs up then.
struct Reaction {
  std::optional<Refusal::Reason> refusal;
  bool hangs_up = false;
};
Reaction reaction_to(std::string const& socket, std::span<std::byte const> bytes) {
  Reaction r;
  int const connection = platform::connect_local(socket.c_str());
  EXPECT_GE(connection, 0);
  EXPECT_EQ(platform::send_message(connection, bytes), 0);
  std::array<std::byte, largest_message> answer;
  int size = 0;
  do {
    platform::wait_until_readable(connection, -1);
    size = platform::receive_bytes(connection, answer);
    if (size > 0) {
      auto const decoded = decode_from_coordinator({answer.data(), static_cast<std::size_t>(size)});
      if (auto const* message = std::get_if<CoordinatorMessage>(&decoded))
        if (auto const* refusal = std::get_if<Refusal>(message)) r.refusal = refusal->reason;
    }
  } while (size > 0);
  r.hangs_up = size == 0;
  platform::close_descriptor(connection);
  return r;
}

TEST_F(CoordinatorServer, HangsUpOnGarbageAndForeignVersions) {
  std::vector<std::byte> garbage(333, std::byte{0xa5});
  auto r = reaction_to(server.socket(), garbage);
  EXPECT_EQ(r.refusal, Refusal::Reason::malformed);
  EXPECT_TRUE(r.hangs_up);

  garbage.resize(100'000);  // longer than any message
  r = reaction_to(server.socket(), garbage);
  EXPECT_EQ(r.refusal, Refusal::Reason::malformed);
  EXPECT_TRUE(r.hangs_up);

  auto const frame = encode(ProgramMessage{Query{}});
  std::vector<std::byte> foreign(frame.bytes().begin(), frame.bytes().end());
  foreign[4] = std::byte{1};
  r = reaction_to(server.socket(), foreign);
  EXPECT_EQ(r.refusal, Refusal::Reason::foreign_version);
  EXPECT_TRUE(r.hangs_up);
  EXPECT_EQ(server.last_warning(),
            "sends what is of another version of the protocol pid=" + std::to_string(::getpid()) +
                " user=" + std::to_string(::getuid()) +
                " version=1 own_version=" + std::to_string(protocol_version));
  foreign[4] = std::byte{protocol_version + 1};
  foreign.resize(48);
  r = reaction_to(server.socket(), foreign);
  EXPECT_EQ(r.refusal, Refusal::Reason::foreign_version);
  EXPECT_EQ(server.warnings(), 2) << "each kind is logged once";
  EXPECT_EQ(free(), 8u);
}

TEST_F(CoordinatorServer, SurvivesWhoWritesAnythingIntoItsPage) {
  int const connection = platform::connect_local(server.socket().c_str());
  Register me{.pid = 1, .name = Name("liar"), .allowed = server.options().allowed};
  ASSERT_EQ(platform::send_message(connection, encode(ProgramMessage{me}).bytes()), 0);
  platform::wait_until_readable(connection, -1);
  std::array<std::byte, largest_message> bytes;
  auto const welcome = platform::receive_message(connection, bytes);
  ASSERT_GE(welcome.passed, 0);
  EXPECT_NE(::ftruncate(welcome.passed, 0), 0) << "nobody can take the page away";
  auto* const page =
      static_cast<std::uint64_t*>(platform::map_shared(welcome.passed, sizeof(LeasePage)));
  ASSERT_NE(page, nullptr);
  Request const request{.region = 1, .ticket = 5, .demand = all_cpus};
  ASSERT_EQ(platform::send_message(connection, encode(ProgramMessage{request}).bytes()), 0);
  platform::wait_until_readable(connection, -1);
  for (std::size_t i = 0; i < sizeof(LeasePage) / 8; ++i) page[i] = i * 0x9e3779b97f4a7c15;

  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  LeaseClient client(program);
  EXPECT_GE(client.enter(1, all_cpus).size, 4u);
  client.leave(1000);
  platform::unmap_shared(page, sizeof(LeasePage));
  platform::close_descriptor(welcome.passed);
  platform::close_descriptor(connection);
  until([&] { return status().host.programs == 1; });
}

TEST_F(CoordinatorServer, DisconnectsWhoDoesNotRead) {
  int const connection = platform::connect_local(server.socket().c_str());
  auto const frame = encode(ProgramMessage{Query{}});
  int failed = 0;
  while (failed == 0 || failed == -EAGAIN)
    failed = platform::send_message(connection, frame.bytes());
  EXPECT_TRUE(failed == -EPIPE || failed == -ECONNRESET) << failed;
  platform::close_descriptor(connection);
  EXPECT_EQ(free(), 8u);
}

TEST_F(CoordinatorServer, ProgramsGoOnWithoutAndClaimWhatTheyHadFromTheNext) {
  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  LeaseClient client(program);
  ASSERT_EQ(client.enter(1, {3, 3}).size, 3u);
  server.restart();
  client.leave(200'000'000);  // long enough to have a look at the connection
  auto const team = client.enter(1, {3, 3});
  EXPECT_EQ(team.size, 3u);
  EXPECT_EQ(team.version, 1u) << "the same cpus";
  EXPECT_EQ(free(), 5u);
  client.leave(1000);
}

TEST_F(CoordinatorServer, ProgramsRunAsWithoutACoordinatorWhenThereIsNone) {
  ClientConnection program;
  EXPECT_FALSE(program.join({"/nowhere/nighd.sock", "test", server.options().allowed}));
  LeaseClient client(program);
  auto const team = client.enter(1, all_cpus);
  EXPECT_EQ(team.size, 0u);
  EXPECT_EQ(team.fallback, FallbackReason::no_coordinator);
  client.leave(1000);

  ClientConnection joined;
  ASSERT_TRUE(joined.join(server.options()));
  LeaseClient other(joined);
  EXPECT_EQ(other.enter(1, {1, 1}).fallback, FallbackReason::none);
  other.leave(1000);
  server.stop();
  for (int i = 0; i < 2; ++i) {
    auto const later = other.enter(1, all_cpus);
    EXPECT_EQ(later.size, 0u);
    EXPECT_EQ(later.fallback, FallbackReason::no_answer);
    EXPECT_FALSE(joined.is_joined());
    other.leave(1000);
  }
}

TEST_F(CoordinatorServer, SpeaksWithItsUsersProgramsOnly) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  std::filesystem::permissions(server.directory(), std::filesystem::perms(0755));
  std::filesystem::permissions(server.socket(), std::filesystem::perms(0666));
  pid_t const child = ::fork();
  if (child == 0) {
    constexpr uid_t somebody = 12345;
    if (::setresuid(somebody, somebody, somebody) != 0) ::_exit(2);
    ClientConnection program;
    ::_exit(program.join(server.options()) ? 1 : 0);
  }
  int ended = -1;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(server.warnings(), 1);
}

TEST_F(CoordinatorServer, LeavesWhenNobodyHasNeededItForLong) {
  RunningServer lonely(std::chrono::milliseconds(1));
  lonely.wait_for_end();
}

}  // namespace
}  // namespace nigh::coordinator
