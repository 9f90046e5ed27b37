// SPDX-License-Identifier: Apache-2.0
// Programs that run without cpus of their own rather than wait for long.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"
#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "running_server.hpp"
#include "temporary_folder.hpp"

namespace nigh::coordinator {
namespace {

using Clock = std::chrono::steady_clock;

struct OneMaster {
  OneMaster(ConnectionOptions options, bool waits_briefly) {
    options.waits_briefly = waits_briefly;
    while (!program.join(options)) ::usleep(1000);  // a server without a turn may miss the first
  }
  ClientConnection program;
  LeaseClient client{program};
};

// A server that does not get its turn for long counts as one that does not answer, so: until it is.
void enter_with(LeaseClient& client, Demand demand, std::uint32_t at_least) {
  while (client.enter(1, demand).size < at_least) {
    client.leave(1000);
    ::usleep(1000);
  }
}

Status host(RunningServer const& server) {
  auto const s = query_status(server.socket(), 60'000);
  EXPECT_TRUE(s) << s.message();
  return s ? s->host : Status{};
}

// The other's region never ends: a thousand regions would take minutes, were each to wait.
TEST(PatientClients, RunUnplacedWhereOthersHoldTheCpus) {
  RunningServer server;
  OneMaster holds(server.options(), false), other(server.options(), true);
  ASSERT_EQ(holds.client.enter(1, all_cpus).size, 8u);
  auto const began = Clock::now();
  for (int i = 0; i < 1000; ++i) {
    auto const team = other.client.enter(1, all_cpus);
    EXPECT_EQ(team.size, 0u);
    EXPECT_NE(team.fallback, FallbackReason::none);
    other.client.leave(1000);
  }
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(20));
  EXPECT_GE(host(server).unplaced, 1u);
  EXPECT_EQ(host(server).waiting, 0u);
  holds.client.leave(1000);
  // Room has been made, and is found at one of the next looks.
  enter_with(other.client, all_cpus, 4);
  other.client.leave(1000);
}

// Each of these threads begins one region. They would take minutes, were each to wait as long as one
// that stays.
TEST(PatientClients, HaveOneBudgetForThreadsThatComeAndGo) {
  RunningServer server;
  OneMaster holds(server.options(), false), other(server.options(), true);
  ASSERT_EQ(holds.client.enter(1, all_cpus).size, 8u);
  auto const began = Clock::now();
  for (int i = 0; i < 1000; ++i) {
    LeaseClient of_a_thread(other.program);
    EXPECT_EQ(of_a_thread.enter(1, all_cpus).size, 0u);
    of_a_thread.leave(1000);
  }
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(20));
  holds.client.leave(1000);
}

TEST(PatientClients, GetCpusThatAreIdle) {
  RunningServer server;
  OneMaster first(server.options(), false), second(server.options(), true);
  ASSERT_EQ(first.client.enter(1, all_cpus).size, 8u);
  first.client.leave(1000);
  while (second.client.enter(1, all_cpus).size < 4) ::usleep(1000);
  second.client.leave(1000);
}

// A region that never ends, of a program that looks whether others want its cpus: it makes room,
// and takes them back when the other has gone. The cpus that it had before can still be read.
TEST(PatientClients, ExchangeTheirLeaseInsideARegion) {
  RunningServer server;
  OneMaster first(server.options(), true);
  GrantedTeam team;
  while ((team = first.client.enter(1, all_cpus)).size < 8) first.client.leave(1000);
  std::vector<std::uint16_t> const before(team.cpus, team.cpus + team.size);
  EXPECT_FALSE(first.client.is_asked_for());
  auto const exchange = [&] {
    return first.client.exchange(1, all_cpus, policy::LeasePatience::look);
  };
  auto const until_asked = [&] {
    while (!first.client.is_asked_for()) ::usleep(1000);
  };
  {
    OneMaster second(server.options(), true);
    std::uint32_t theirs = 0, ours = team.size;
    while (theirs < 4 || ours != 4) {
      second.client.leave(1000);
      theirs = second.client.enter(1, all_cpus).size;
      if (first.client.holds() && !first.client.is_asked_for()) continue;
      bool const is_first = ours == 8;
      ours = exchange().size;
      if (is_first) {
        EXPECT_EQ(std::vector<std::uint16_t>(team.cpus, team.cpus + 8), before);
      }
    }
    EXPECT_EQ(theirs, 4u);
  }
  std::uint32_t ours = 4;
  while (ours < 8) {
    if (first.client.holds()) until_asked();
    ours = exchange().size;
  }
  first.client.leave(0);
}

// Until the server has answered in time.
LeaseClient::Entered entered(OneMaster& master, RegionId region) {
  while (master.client.enter(region, {4, 4}).size < 4) ::usleep(1000);
  auto const entered = master.client.entered();
  master.client.leave(1000);
  return entered;
}

TEST(PatientClients, EnterALeaseAgainAsLongAsNothingChanges) {
  RunningServer server;
  OneMaster first(server.options(), true);
  EXPECT_FALSE(first.client.enter_again({}));
  auto const known = entered(first, 1);
  EXPECT_EQ(known.size(), 4u);
  ASSERT_TRUE(first.client.enter_again(known));
  EXPECT_FALSE(first.client.enter_again(known));  // it is in a region
  EXPECT_TRUE(first.client.leave_untold());
  EXPECT_FALSE(first.client.leave_untold());  // it is in none
  // Another region on the same lease.
  auto const other = entered(first, 2);
  EXPECT_TRUE(first.client.enter_again(other));
  first.client.leave(1000);
  EXPECT_TRUE(first.client.enter_again(known));
  first.client.leave(1000);
  // The lease is another one.
  first.client.give_back();
  EXPECT_FALSE(first.client.enter_again(known));
  auto const next = entered(first, 1);
  EXPECT_FALSE(first.client.enter_again(known));
  ASSERT_TRUE(first.client.enter_again(next));
  first.client.leave(1000);
  // The region's next run is to be timed.
  ASSERT_TRUE(first.client.enter_again(next));
  first.client.leave(Report::every_ns - 1000);
  while (first.client.enter_again(next)) first.client.leave(1000);
  EXPECT_TRUE(first.client.enter(1, {4, 4}).is_to_be_timed);
  EXPECT_FALSE(first.client.leave_untold());
  first.client.leave(1000);
  EXPECT_TRUE(first.client.enter_again(next));
  first.client.leave(1000);
  // Others want its cpus.
  first.client.give_back();
  enter_with(first.client, all_cpus, 8);
  auto const all = first.client.entered();
  OneMaster second(server.options(), true);
  while (!first.client.is_asked_for()) {
    second.client.enter(1, all_cpus);
    second.client.leave(1000);
  }
  EXPECT_FALSE(first.client.leave_untold());
  first.client.leave(1000);
  EXPECT_FALSE(first.client.enter_again(all));
}

// In a process of its own, so that it can be stopped.
class StoppableServer {
 public:
  StoppableServer() {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    process_ = ::fork();
    if (process_ == 0) {
      ServerOptions options;
      options.listener = *platform::listen_local(socket_, platform::Carries::messages, 0600);
      options.minds_external_load = false;
      options.cgroup_root = "/nonexistent";  // the cpuset of this host is not that machine's
      auto const machine = topology::from_synthetic("pack:2 numa:1 core:4 pu:1");
      auto server = Server::start(policy::CoreMap::of(*machine), options);
      EXPECT_EQ(::write(ready[1], "x", 1), 1);
      if (server) (*server)->run();
      ::_exit(0);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]), ::close(ready[1]);
  }
  ~StoppableServer() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  void stop() {
    int status = 0;
    ::kill(process_, SIGSTOP);
    ::waitpid(process_, &status, WUNTRACED);
  }
  void go_on() { ::kill(process_, SIGCONT); }
  ConnectionOptions options() const {
    ConnectionOptions o{socket_.c_str(), "test", {}};
    for (int cpu = 0; cpu < 8; ++cpu) o.allowed.add(cpu);
    return o;
  }

 private:
  test::TemporaryFolder const folder_;
  std::string const socket_ = folder_.path() / "nighd.sock";
  pid_t process_ = -1;
};

// A hundred regions would take 15 s, were each to wait for an answer that does not come. When the
// coordinator goes on, what it grants too late is given back, and all is as it was.
TEST(PatientClients, DoNotWaitForACoordinatorThatIsStopped) {
  StoppableServer server;
  OneMaster one(server.options(), true);
  LeaseClient& client = one.client;
  enter_with(client, {2, 2}, 2);
  client.leave(1000);
  server.stop();
  auto const began = Clock::now();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(client.enter(2, all_cpus).size, 0u) << "it asks for more than it has";
    client.leave(1000);
  }
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(8));
  server.go_on();
  enter_with(client, all_cpus, 8);
  client.leave(1000);
}

// Programs that come one after the other, as a script's do.
TEST(PatientClients, AskASilentCoordinatorOnceForAll) {
  std::string const socket = "/tmp/nigh-silent-" + std::to_string(::getpid());
  int const listener = platform::listen_local(socket, platform::Carries::messages, 0600).value();
  ConnectionOptions options{.socket = socket.c_str(), .name = "test", .waits_briefly = true};
  options.allowed.add(0);
  auto const try_to_join = [&options] { return ClientConnection().join(options); };
  auto const callers = [listener] {
    int calls = 0;
    for (int c = 0; (c = platform::accept_local(listener)) >= 0; ++calls)
      platform::close_descriptor(c);
    return calls;
  };
  EXPECT_FALSE(platform::is_put_off(socket.c_str()));
  auto const began = Clock::now();
  EXPECT_FALSE(try_to_join());
  EXPECT_LT(Clock::now() - began, std::chrono::milliseconds(900)) << "150, unless others are busy";
  EXPECT_EQ(callers(), 1);
  for (int i = 0; i < 10 && platform::is_put_off(socket.c_str()); ++i) EXPECT_FALSE(try_to_join());
  EXPECT_EQ(callers(), 0);
  while (platform::is_put_off(socket.c_str())) ::usleep(10'000);
  EXPECT_FALSE(try_to_join());
  EXPECT_EQ(callers(), 1) << "after a second it is asked again";
  struct stat file{};
  ::stat(socket.c_str(), &file);
  auto const pause = file.st_mtim.tv_sec - file.st_ctim.tv_sec;
  EXPECT_TRUE(1 <= pause && pause <= 3) << "twice as long as the first time";
  platform::close_descriptor(listener);
  ::unlink(socket.c_str());
}

}  // namespace
}  // namespace nigh::coordinator
