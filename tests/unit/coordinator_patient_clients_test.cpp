// SPDX-License-Identifier: Apache-2.0
// Programs that run without cpus of their own rather than wait for long.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"
#include "running_server.hpp"

namespace nigh::coordinator {
namespace {

using Clock = std::chrono::steady_clock;

struct OneMaster {
  OneMaster(ConnectionOptions options, bool waits_briefly) {
    options.waits_briefly = waits_briefly;
    EXPECT_TRUE(program.join(options));
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

TEST(PatientClients, GetCpusThatAreIdle) {
  RunningServer server;
  OneMaster first(server.options(), false), second(server.options(), true);
  ASSERT_EQ(first.client.enter(1, all_cpus).size, 8u);
  first.client.leave(1000);
  while (second.client.enter(1, all_cpus).size < 4) ::usleep(1000);
  second.client.leave(1000);
}

// In a process of its own, so that it can be stopped.
class StoppableServer {
 public:
  StoppableServer() {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    char name[] = "/tmp/nigh-test-XXXXXX";
    directory_ = ::mkdtemp(name);
    socket_ = directory_ + "/nighd.sock";
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
    std::filesystem::remove_all(directory_);
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
  std::string directory_, socket_;
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

}  // namespace
}  // namespace nigh::coordinator
