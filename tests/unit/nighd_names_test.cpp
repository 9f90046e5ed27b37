// SPDX-License-Identifier: Apache-2.0
// How nighd and the tools handle names that others chose, and files that others put in the way.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/printable.hpp"
#include "coordinator/client/connection.hpp"
#include "coordinator/client/status.hpp"
#include "temporary_folder.hpp"

namespace nigh::coordinator {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Said {
  std::string text;
  int status = 0;
};

// Of a shell; what it says on standard error, too.
Said said_by(std::string const& command) {
  Said said;
  FILE* const out = ::popen(("exec 2>&1; " + command).c_str(), "r");
  if (out == nullptr) return {"no shell", -1};
  std::array<char, 4096> bytes{};
  while (auto const n = std::fread(bytes.data(), 1, bytes.size(), out))
    said.text.append(bytes.data(), n);
  int const status = ::pclose(out);
  said.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

class HostileFiles : public ::testing::Test {
 protected:
  HostileFiles() {
    socket = directory / "n.sock";
    std::ofstream(victim()) << "dear";
  }
  ~HostileFiles() override {
    if (process > 0) {
      ::kill(process, SIGTERM);
      ::waitpid(process, nullptr, 0);
    }
  }

  void start() {
    process = ::fork();
    if (process == 0) {
      int const nothing = ::open("/dev/null", O_WRONLY);
      ::dup2(nothing, STDERR_FILENO);
      ::execl(NIGHD, NIGHD, "--foreground", "--socket", socket.c_str(), "--profiles", "none",
              "--idle-exit", "0", nullptr);
      ::_exit(127);
    }
    while (!query_status(socket)) {
      ASSERT_EQ(::waitpid(process, nullptr, WNOHANG), 0) << "nighd ended";
      ::usleep(1000);
    }
  }
  // One that goes to the background where it can serve, for a second.
  Said nighd(std::string const& more = {}) const {
    return said_by(std::string(NIGHD) + " --profiles none --idle-exit 1 --socket " + socket + ' ' +
                   more);
  }

  fs::path victim() const { return directory / "victim"; }
  std::string victims_text() const {
    std::ifstream in(victim());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string lock() const { return socket + ".lock"; }
  test::TemporaryFolder const folder;
  fs::path const directory = folder.path();
  std::string socket;
  pid_t process = 0;
};

TEST_F(HostileFiles, NamesOfProgramsReachNoTerminalRaw) {
  ASSERT_NO_FATAL_FAILURE(start());
  ConnectionOptions options;
  options.socket = socket.c_str();
  options.name = "evil\u009b31m\u202etxt\xff";
  options.allowed.add(0);
  ClientConnection program;
  ASSERT_TRUE(program.join(options));
  for (std::string const command :
       {"status", "status --json", "top --once", "top --once --json", "doctor"}) {
    auto const said = said_by("NIGH_SOCKET=" + socket + " LC_ALL=C.UTF-8 " NIGH " " + command);
    EXPECT_EQ(said.text, base::printable_lines(said.text)) << command;
    if (command.starts_with("status")) {
      EXPECT_THAT(said.text, HasSubstr("u009b31m")) << command;
    }
  }
}

TEST_F(HostileFiles, ALockThatIsALinkIsRefused) {
  fs::create_symlink(victim(), lock());
  auto const said = nighd();
  EXPECT_EQ(said.status, 2);
  EXPECT_THAT(said.text, HasSubstr(".lock: it is a symbolic link"));
  EXPECT_EQ(victims_text(), "dear");
}

TEST_F(HostileFiles, ALogThatIsALinkIsRefused) {
  fs::create_symlink(victim(), directory / "n.log");
  auto const said = nighd();
  EXPECT_NE(said.status, 0);
  EXPECT_THAT(said.text, HasSubstr("n.log: it is a symbolic link"));
  EXPECT_EQ(victims_text(), "dear");
}

TEST_F(HostileFiles, NobodyElseMayOpenTheLock) {
  std::ofstream(lock()).flush();
  ASSERT_EQ(::chmod(lock().c_str(), 0666), 0);
  ASSERT_NO_FATAL_FAILURE(start());
  struct stat what{};
  ASSERT_EQ(::stat(lock().c_str(), &what), 0);
  EXPECT_EQ(what.st_mode & 0777, 0600u);
}

TEST_F(HostileFiles, IfNoneSaysWhoServes) {
  ASSERT_NO_FATAL_FAILURE(start());
  auto const said = nighd("--if-none");
  EXPECT_EQ(said.status, 0);
  EXPECT_THAT(said.text, HasSubstr("process " + std::to_string(process) + " of user "));
  EXPECT_THAT(said.text, HasSubstr(" serves " + socket));
  EXPECT_EQ(said_by(std::string(NIGHD) + " --if-none --socket " + socket + " 2>&1 >/dev/null").text,
            "");
}

TEST_F(HostileFiles, IfNoneFailsWhereSomebodyHoldsTheLockAndDoesNotServe) {
  int const held = ::open(lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  auto const said = nighd("--if-none");
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.text, HasSubstr("process " + std::to_string(::getpid()) + " of user "));
  EXPECT_THAT(said.text, HasSubstr("nothing answers"));
  ::close(held);
}

}  // namespace
}  // namespace nigh::coordinator
