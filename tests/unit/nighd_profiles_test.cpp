// SPDX-License-Identifier: Apache-2.0
// Regions that are known again when their program is: with a server, real sockets and files.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>

#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"
#include "coordinator/profile/profile_files.hpp"
#include "nighd/profiles.hpp"
#include "platform/local_socket.hpp"
#include "platform/process_usage.hpp"
#include "running_server.hpp"
#include "temporary_folder.hpp"

namespace nigh::coordinator {
namespace {

namespace fs = std::filesystem;
constexpr RegionId region = 0x4000;
constexpr std::uint64_t binary = 0xabc;

// Of a program that no team helps.
std::vector<KnownRegion::Time> times_of_one_thread() { return {{1, 200'000, 5}, {8, 210'000, 5}}; }

class NighdProfiles : public testing::Test {
 protected:
  NighdProfiles() { server_.emplace(std::nullopt, 1000, keeper()); }

  Keeper keeper(std::uint32_t cpus = 8) {
    return nighd::keeper_in({.directory = directory_,
                             .cpus = cpus,
                             .files = 3,
                             .warn = [this](std::string_view what, std::string_view why) {
                               std::lock_guard const alone(lock_);
                               ++warnings_;
                               warning_ = std::string(what) + ": " + std::string(why);
                             }});
  }
  int warnings() {
    std::lock_guard const alone(lock_);
    return warnings_;
  }
  std::string warning() {
    std::lock_guard const alone(lock_);
    return warning_;
  }
  ConnectionOptions options(std::uint64_t of = binary) {
    auto o = server_->options();
    o.binary = of;
    return o;
  }
  fs::path file() { return profile_file(directory_, "test", binary); }
  ProgramProfile profile() {
    auto const read = read_profile(file());
    return read && *read ? **read : ProgramProfile{};
  }

  // By Reports: the region takes longer with eight threads than with one.
  static void tell_times_of_one_thread(LeaseClient& client) {
    for (auto const& t : times_of_one_thread())
      for (int i = 0; i < 3; ++i) {
        bool const can = t.threads == 1;
        static_cast<void>(client.enter(region, can ? Demand{1, 0} : Demand{}));
        client.leave(Report::every_ns * (10 + static_cast<std::uint64_t>(t.threads)));
      }
  }

  // A process that tells so, and is killed.
  void run_and_kill() {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    pid_t const child = ::fork();
    if (child == 0) {
      ClientConnection program;
      program.join(options());
      LeaseClient client(program);
      tell_times_of_one_thread(client);
      static_cast<void>(::write(ready[1], "x", 1) + 1);
      for (;;) ::pause();
    }
    char done = 0;
    ASSERT_EQ(::read(ready[0], &done, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]), ::close(ready[1]);
    while (query_status(server_->socket())->host.programs > 0) ::usleep(1000);
  }

  // Cpus that a new run of the program gets for the region.
  std::uint32_t granted(std::uint64_t of = binary) {
    ClientConnection program;
    EXPECT_TRUE(program.join(options(of)));
    LeaseClient client(program);
    auto const size = client.enter(region, {}).size;
    client.leave(1000);
    return size;
  }

  std::string warning_;
  std::mutex lock_;  // of what the server's own thread says
  int warnings_ = 0;
  test::TemporaryFolder const folder_;
  fs::path const directory_ = folder_.path() / "profiles";
  std::optional<RunningServer> server_;
};

// Names and numbers of processes are reused.
TEST_F(NighdProfiles, LookIntoNoProcessThatHasTakenTheNumberOfAnother) {
  auto const keeper = nighd::keeper_in({.directory = directory_, .cpus = 8});
  auto const start = platform::start_of(::getpid());
  KnownProgram script{"python3", "/usr/bin/python3", 1, 0, {::getpid(), start}};
  KnownProgram another = script;
  another.process.started = start + 1;
  EXPECT_EQ(keeper.recall(script).program.process.pid, ::getpid());
  EXPECT_EQ(keeper.recall(another).program.process.pid, 0);
  EXPECT_TRUE(keeper.look(another, 1).program.libraries.empty());
}

TEST_F(NighdProfiles, TellTheNextRunWhatOneHasLearntThatWasKilled) {
  EXPECT_EQ(granted(), 8U) << "nothing is known";
  EXPECT_FALSE(fs::exists(file()));
  run_and_kill();
  EXPECT_EQ(granted(), 1U);
  EXPECT_EQ(granted(binary + 1), 8U) << "another binary's";
  server_->restart();
  EXPECT_EQ(granted(), 1U) << "nor is it forgotten with nighd";
  auto const kept = profile();
  ASSERT_EQ(kept.regions.size(), 1U);
  EXPECT_EQ(kept.program, "test");
  EXPECT_EQ(kept.path, fs::read_symlink("/proc/self/exe"));
  EXPECT_EQ(kept.cpus, 8U);
  EXPECT_EQ(kept.regions[0].source, Source::learnt);
  EXPECT_EQ(kept.regions[0].demand, (Demand{1, 1}));
  EXPECT_EQ(kept.regions[0].times.size(), 2U);
}

TEST_F(NighdProfiles, BelieveTheUserMoreThanTheRuns) {
  auto const given = [](ProgramProfile& p) {
    p.cpus = 8;
    p.regions = {{.id = region, .source = Source::given, .demand = {4, 2}}};
  };
  ASSERT_TRUE(change_profile(directory_, "test", binary, given));
  EXPECT_EQ(granted(), 4U);
  run_and_kill();
  server_->restart();
  EXPECT_EQ(granted(), 4U);
  ASSERT_EQ(profile().regions.size(), 1U);
  EXPECT_EQ(profile().regions[0].source, Source::given);
  EXPECT_EQ(profile().regions[0].demand, (Demand{4, 2}));
}

TEST_F(NighdProfiles, OfAnotherMachineAreNotUsed) {
  auto const there = [](ProgramProfile& p) {
    p.cpus = 32;
    p.regions = {{.id = region, .source = Source::measured, .demand = {1, 1}},
                 {.id = region + 1, .source = Source::given, .demand = {3, 3}}};
  };
  ASSERT_TRUE(change_profile(directory_, "test", binary, there));
  EXPECT_EQ(granted(), 8U);
  run_and_kill();
  EXPECT_EQ(granted(), 1U);
  auto kept = profile();
  EXPECT_EQ(kept.cpus, 8U);
  ASSERT_NE(kept.find(region), nullptr);
  EXPECT_EQ(kept.find(region)->source, Source::learnt);
  ASSERT_NE(kept.find(region + 1), nullptr) << "what is given holds everywhere";
}

TEST_F(NighdProfiles, ThatAreDamagedAreNamedOnceAndLeftAlone) {
  fs::create_directories(directory_);
  std::ofstream(file()) << R"({"nigh_region_profile":1,"prog)";
  EXPECT_EQ(granted(), 8U);
  EXPECT_EQ(warning(), "ignores a profile: " + file().string() + " is cut or damaged: no JSON");
  EXPECT_EQ(granted(), 8U);
  EXPECT_EQ(warnings(), 1);
  run_and_kill();
  server_->stop();
  EXPECT_EQ(warnings(), 2) << warning();
  EXPECT_EQ(fs::file_size(file()), 30U);
}

// As root, whom no permission stops, a directory that cannot be is as good.
TEST_F(NighdProfiles, ThatCannotBeKeptAreMissedOnce) {
  std::ofstream(directory_.string()) << "no directory";
  run_and_kill();
  run_and_kill();
  server_->stop();
  EXPECT_EQ(warnings(), 1);
  EXPECT_NE(warning().find("cannot keep a profile: " + directory_.string()), std::string::npos)
      << warning();
}

TEST_F(NighdProfiles, AreNoMoreThanSoMany) {
  auto const keep = keeper();
  for (std::uint64_t i = 1; i <= 5; ++i)
    keep.remember({"p", "", i, 0}, {{.id = 1, .times = times_of_one_thread()}});
  EXPECT_EQ(profile_files(directory_).size(), 3U);
}

TEST_F(NighdProfiles, OfUsersAreApart) {
  auto const keep = nighd::keeper_in({.directory = directory_, .apart_by_user = true, .cpus = 8});
  keep.remember({"p", "", 1, 1000}, {{.id = 1, .times = times_of_one_thread()}});
  EXPECT_EQ(keep.recall({"p", "", 1, 1000}).regions.size(), 1U);
  EXPECT_TRUE(keep.recall({"p", "", 1, 1001}).regions.empty());
  EXPECT_EQ(profile_files(directory_ / "1000").size(), 1U);
}

// One that was loaded into this process, as into any.
TEST_F(NighdProfiles, OfLibrariesAreSharedByAllProgramsThatLoadThem) {
  auto const libm = [] {
    for (auto const& file : platform::mapped_code(::getpid()))
      if (file.filename().string().starts_with("libm.so")) return file;
    return fs::path();
  }();
  if (libm.empty()) GTEST_SKIP() << "libm is not loaded";
  auto const number = library_number(libm.filename().c_str());
  auto const in_libm = region_in(number, 0x1234);
  auto const keep = keeper();
  platform::ProcessIdentity const self{::getpid(), platform::start_of(::getpid())};
  KnownProgram const a{"a", "/bin/a", 1, 0, self}, b{"b", "/bin/b", 2, 0, self};
  auto known = keep.recall(a).program;
  EXPECT_TRUE(known.libraries.empty());
  auto const seen = keep.look(a, number);
  EXPECT_TRUE(seen.regions.empty());
  ASSERT_EQ(seen.program.libraries.size(), 1U);
  EXPECT_EQ(seen.program.libraries[0].path, libm);
  EXPECT_TRUE(keep.look(a, number + 1).program.libraries.empty());
  known.libraries = seen.program.libraries;
  keep.remember(known, {{.id = in_libm, .times = times_of_one_thread()},
                        {.id = region, .times = times_of_one_thread()}});
  // By another program: of the library only.
  auto const recalled = keep.recall(b);
  ASSERT_EQ(recalled.regions.size(), 1U);
  EXPECT_EQ(recalled.regions[0].id, in_libm);
  ASSERT_EQ(recalled.program.libraries.size(), 1U);
  EXPECT_EQ(recalled.program.libraries[0].number, number);
  ASSERT_EQ(profile_files(library_profiles(directory_)).size(), 1U);
  auto const kept = read_profile(profile_files(library_profiles(directory_))[0]);
  ASSERT_TRUE(kept && *kept);
  EXPECT_TRUE((*kept)->is_library);
  EXPECT_EQ((*kept)->path, libm);
  EXPECT_EQ(keep.recall(a).regions.size(), 2U);
}

// The process exists, its words are this test's own: no script among them.
TEST_F(NighdProfiles, OfInterpretersWithoutAScriptAreNotKept) {
  auto const keep = keeper();
  KnownProgram const python{"python3", "/usr/bin/python3.11", 1, 0};
  auto const known = keep.recall(python).program;
  EXPECT_EQ(known.binary, 0U);
  EXPECT_EQ(known.interpreter, "/usr/bin/python3.11");
  keep.remember(known, {{.id = region, .times = times_of_one_thread()}});
  keep.remember(python, {{.id = region, .times = times_of_one_thread()}});
  EXPECT_TRUE(profile_files(directory_).empty());
}

// Lessons reach a region whose lease is kept, and one whose program says how many threads it has at
// most.
TEST_F(NighdProfiles, ReachRegionsOfALeaseThatIsKept) {
  run_and_kill();
  auto const grants = query_status(server_->socket())->host.grants;
  ClientConnection program;
  ASSERT_TRUE(program.join(options()));
  LeaseClient client(program);
  EXPECT_EQ(client.enter(region + 1, {}).size, 8U) << "of which nothing is known";
  client.leave(1000);
  EXPECT_EQ(client.enter(region, {}).size, 1U);
  client.leave(1000);
  EXPECT_EQ(client.enter(region, {4, 0}).size, 1U) << "the smaller of both";
  client.leave(1000);
  EXPECT_EQ(client.enter(region, {4, 4}).size, 4U) << "who says what it needs is believed";
  client.leave(1000);
  EXPECT_EQ(client.enter(region + 1, {4, 0}).size, 4U);
  client.leave(1000);
  EXPECT_EQ(query_status(server_->socket())->host.grants, grants + 1);
}

// The thread has begun the region before, with all cpus of the lease that it keeps.
TEST_F(NighdProfiles, ReachRegionsThatBeginAgain) {
  ClientConnection program;
  ASSERT_TRUE(program.join(options()));
  LeaseClient client(program);
  ASSERT_EQ(client.enter(region, {}).size, 8U);
  auto const known = client.entered();
  client.leave(1000);
  ASSERT_TRUE(client.enter_again(known));
  client.leave(1000);
  auto const grants = query_status(server_->socket())->host.grants;
  tell_times_of_one_thread(client);
  for (int i = 0; i < 10'000 && client.enter_again(known); ++i) {
    client.leave(1000);
    ::usleep(1000);
  }
  EXPECT_FALSE(client.enter_again(known));
  EXPECT_EQ(client.enter(region, {}).size, 1U);
  client.leave(1000);
  EXPECT_EQ(query_status(server_->socket())->host.grants, grants);
}

}  // namespace
}  // namespace nigh::coordinator
