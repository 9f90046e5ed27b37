// SPDX-License-Identifier: Apache-2.0
// nighd as it is installed, with programs of several users, seen from outside: where it runs itself
// (policy/cpus/server_place.hpp), and whom it lets in.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"
#include "denied_call.hpp"
#include "platform/affinity.hpp"
#include "temporary_folder.hpp"

namespace nigh::coordinator {
namespace {

using Cpus = std::vector<int>;

class Nighd : public ::testing::Test {
 protected:
  Nighd() : all(platform::affinity_of_this_thread()) {
    socket = directory_ / "nighd.sock";
    for (int const cpu : all) options.allowed.add(cpu);
    options.socket = socket.c_str();
    options.name = "test";
  }
  ~Nighd() override {
    if (process > 0) {
      ::kill(process, SIGTERM);
      ::waitpid(process, nullptr, 0);
    }
  }

  void start(std::vector<char const*> more, bool may_move = true) {
    std::vector<char const*> words{NIGHD,        "--foreground", "--socket",    socket.c_str(),
                                   "--profiles", "none",         "--idle-exit", "0"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(nullptr);
    process = ::fork();
    if (process == 0) {
      int const nothing = ::open("/dev/null", O_WRONLY);
      ::dup2(nothing, STDERR_FILENO);
      if (!may_move) test::deny_call(SYS_sched_setaffinity, EPERM);
      ::execv(NIGHD, const_cast<char* const*>(words.data()));
      ::_exit(127);
    }
    while (!query_status(socket)) {
      ASSERT_EQ(::waitpid(process, nullptr, WNOHANG), 0) << "nighd ended";
      ::usleep(1000);
    }
  }
  void open_directory() { ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0); }

  Cpus all;
  std::string socket;
  ConnectionOptions options{};
  pid_t process = 0;

 private:
  test::TemporaryFolder const folder_;
  std::filesystem::path const directory_ = folder_.path();
};

class PlaceOfNighd : public Nighd {
 protected:
  void SetUp() override {
    if (all.size() < 2 || all.back() >= CPU_SETSIZE) GTEST_SKIP() << "there is one cpu only";
  }
  ~PlaceOfNighd() override { static_cast<void>(platform::pin_this_thread(all)); }

  // A client on one cpu.
  void join() {
    everywhere = cpus_of_nighd();
    ASSERT_TRUE(platform::pin_this_thread(Cpus{here()}));
    ASSERT_TRUE(program.join(options));
  }
  int here() const { return all[1]; }
  void ask() {
    EXPECT_EQ(client.enter(1, {1, 1}).size, 1u);
    client.leave(1000);
    client.give_back();
  }
  Cpus cpus_of_nighd() const {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(::sched_getaffinity(process, sizeof set, &set), 0);
    Cpus cpus;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
    return cpus;
  }
  // However slow the host is: nighd leaves where it is called late, and comes again.
  bool is_followed() {
    for (int i = 0; i < 10'000; ++i) {
      ask();
      if (cpus_of_nighd() == Cpus{here()}) return true;
      ::usleep(1000);
    }
    return false;
  }
  bool comes_to(Cpus const& cpus) const {
    for (int i = 0; i < 10'000 && cpus_of_nighd() != cpus; ++i) ::usleep(1000);
    return cpus_of_nighd() == cpus;
  }

  Cpus everywhere;
  ClientConnection program;
  LeaseClient client{program};
};

TEST_F(PlaceOfNighd, IsBesideTheOnlyOneThatAsksAndAnywhereForOthersAndLater) {
  ASSERT_NO_FATAL_FAILURE(start({}));
  ASSERT_NO_FATAL_FAILURE(join());
  EXPECT_GE(everywhere.size(), all.size());
  EXPECT_TRUE(is_followed());
  ASSERT_TRUE(query_status(socket));
  EXPECT_EQ(cpus_of_nighd(), everywhere) << "before it answers another";
  EXPECT_TRUE(is_followed());
  EXPECT_TRUE(comes_to(everywhere)) << "nobody asks any more";
}

TEST_F(PlaceOfNighd, IsAnywhereAndProgramsAreServedWhereTheSystemRefuses) {
  ASSERT_NO_FATAL_FAILURE(start({}, false));
  ASSERT_NO_FATAL_FAILURE(join());
  for (int i = 0; i < 60; ++i) {
    ask();
    EXPECT_EQ(cpus_of_nighd(), everywhere);
  }
  auto const status = query_status(socket);
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(status->host.grants, 60u);
  EXPECT_EQ(status->host.refusals, 0u);
}

TEST_F(Nighd, LetsInAsManyProgramsOfAUserAsItWasTold) {
  ASSERT_NO_FATAL_FAILURE(start({"--programs-per-user", "2"}));
  ClientConnection first, third;
  ASSERT_TRUE(first.join(options));
  {
    ClientConnection second;
    ASSERT_TRUE(second.join(options));
    EXPECT_FALSE(third.join(options));
    auto const status = query_status(socket);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.message(), "it serves as many programs as it may");
  }
  while (!third.join(options)) ::usleep(1000);  // hangs where the place stays taken
}

// The answer to a user's program that tries to return our lease.
int other_users_answers(ConnectionOptions const& options, LeaseId ours) {
  constexpr uid_t somebody = 12345;
  if (::setresgid(somebody, somebody, somebody) != 0 ||
      ::setresuid(somebody, somebody, somebody) != 0)
    return 1;
  ClientConnection mine, too_many;
  if (!mine.join(options)) return 2;
  if (too_many.join(options)) return 3;
  auto const release = encode(ProgramMessage{Release{ours}});
  if (::write(mine.socket(), release.bytes().data(), release.bytes().size()) < 0) return 4;
  LeaseClient client(mine);  // heard behind it
  return client.enter(1, {1, 1}).size == 1 ? 0 : 5;
}

TEST_F(Nighd, ServesEveryUserApartWhenTold) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  if (all.size() < 2) GTEST_SKIP() << "there is one cpu only";
  open_directory();
  ASSERT_NO_FATAL_FAILURE(start({"--any-user", "--programs-per-user", "1"}));
  {
    ClientConnection program;
    ASSERT_TRUE(program.join(options));
    LeaseClient client(program);
    ASSERT_EQ(client.enter(1, {1, 1}).size, 1u);
    pid_t const child = ::fork();
    if (child == 0) {
      program.drop();
      ::_exit(other_users_answers(options, 1));
    }
    int ended = -1;
    ASSERT_EQ(::waitpid(child, &ended, 0), child);
    EXPECT_EQ(ended, 0);
    EXPECT_FALSE(query_status(socket)) << "this user has its one program";
    client.leave(1000);
  }
  auto status = query_status(socket);
  while (!status) status = query_status(socket);
  EXPECT_EQ(status->host.refusals, 1u) << "a lease is not another user's to return";
}

TEST_F(Nighd, ServesItsUserAndRootOnlyUnlessTold) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  open_directory();
  ASSERT_NO_FATAL_FAILURE(start({}));
  ASSERT_EQ(::chmod(socket.c_str(), 0666), 0);
  pid_t const child = ::fork();
  if (child == 0) ::_exit(other_users_answers(options, 1));
  int ended = -1;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  ASSERT_TRUE(WIFEXITED(ended));
  EXPECT_EQ(WEXITSTATUS(ended), 2) << "it does not come in";
}

}  // namespace
}  // namespace nigh::coordinator
