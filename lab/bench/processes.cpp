// SPDX-License-Identifier: Apache-2.0
#include "bench/processes.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "platform/program.hpp"

extern char** environ;

namespace bench {

namespace {

using nigh::platform::pointers_to;
using Clock = std::chrono::steady_clock;

class MemoryFile {
 public:
  explicit MemoryFile(char const* name) : fd_(memfd_create(name, MFD_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error(std::string("memfd_create: ") + std::strerror(errno));
  }
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(MemoryFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  MemoryFile& operator=(MemoryFile&&) = delete;

  int fd() const noexcept { return fd_; }
  std::string text() const {
    std::string all;
    char part[4096];
    lseek(fd_, 0, SEEK_SET);
    for (ssize_t got; (got = read(fd_, part, sizeof part)) > 0;)
      all.append(part, static_cast<std::size_t>(got));
    return all;
  }

 private:
  int fd_;
};

std::vector<std::string> environment_of(Command const& command) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string const text = *entry;
    bool const is_choice = text.starts_with("OMP_") || text.starts_with("GOMP_") ||
                           text.starts_with("KMP_") || text.starts_with("NIGH_");
    if (!is_choice) all.push_back(text);
  }
  for (auto const& [name, value] : command.environment) all.push_back(name + '=' + value);
  return all;
}

class Process {
 public:
  explicit Process(Command const& command) : output_("output"), errors_("errors") {
    auto words = command.words;
    auto environment = environment_of(command);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output_.fd(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors_.fd(), STDERR_FILENO);
    posix_spawnattr_t attributes;  // SIGCHLD is blocked here, but not there
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int const error = posix_spawnp(&pid_, words[0].c_str(), &actions, &attributes,
                                   pointers_to(words).data(), pointers_to(environment).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      pid_ = -1;
      throw std::runtime_error(words[0] + ": " + std::strerror(error));
    }
  }
  ~Process() {  // on the way out of a failure
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        output_(std::move(other.output_)),
        errors_(std::move(other.errors_)) {}
  Process& operator=(Process&&) = delete;

  bool is_running() const noexcept { return pid_ >= 0; }

  // Whether it has ended by now.
  bool collect(Clock::time_point start, Ended& ended) {
    int status = 0;
    rusage used{};
    if (wait4(pid_, &status, WNOHANG, &used) != pid_) return false;
    pid_ = -1;
    auto const seconds = [](timeval const& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    ended.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    ended.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    ended.status = nigh::platform::exit_status(status);
    ended.output = output_.text();
    ended.errors = errors_.text();
    return true;
  }

 private:
  pid_t pid_ = -1;
  MemoryFile output_, errors_;
};

// While it lives, the end of a child waits to be asked for.
class ChildSignal {
 public:
  ChildSignal() {
    sigemptyset(&child_);
    sigaddset(&child_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_, &before_);
  }
  ~ChildSignal() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  ChildSignal(ChildSignal&&) = delete;
  ChildSignal& operator=(ChildSignal&&) = delete;

  void wait(double at_most_seconds) {
    auto const whole = static_cast<time_t>(at_most_seconds);
    timespec const limit{whole,
                         static_cast<long>((at_most_seconds - static_cast<double>(whole)) * 1e9)};
    sigtimedwait(&child_, nullptr, &limit);
  }

 private:
  sigset_t child_{}, before_{};
};

void end_group(int) { kill(0, SIGKILL); }

// Starts the program again and again until a signal ends the caller's group.
[[noreturn]] void keep_running(pid_t bench, char* const* words, char* const* environment) {
  setpgid(0, 0);
  struct sigaction action{};
  action.sa_handler = end_group;
  sigaction(SIGTERM, &action, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != bench) _exit(1);  // it ended before it could be watched
  int const null = open("/dev/null", O_RDWR);
  for (int const fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
  for (;;) {
    pid_t const pid = fork();
    if (pid == 0) {
      execvpe(words[0], words, environment);
      _exit(127);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) usleep(10'000);
  }
}

}  // namespace

Companion::Companion(Command const& command) {
  auto words = command.words;
  auto environment = environment_of(command);
  auto const argv = pointers_to(words);
  auto const envp = pointers_to(environment);
  pid_t const bench = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (pid_ == 0) keep_running(bench, argv.data(), envp.data());
  setpgid(pid_, pid_);  // here and there: whichever comes first
}

Companion::~Companion() {
  if (pid_ < 0) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::string libexec_folder() { return nigh::platform::this_program().parent_path().string(); }

std::vector<Ended> run_together(std::vector<Command> const& commands, double limit_seconds) {
  ChildSignal signal;
  std::vector<Ended> ended(commands.size());
  std::vector<Process> processes;
  auto const start = Clock::now();
  auto const elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  for (std::size_t running = commands.size(); running > 0;) {
    while (processes.size() < commands.size() &&
           commands[processes.size()].start_seconds <= elapsed())
      processes.emplace_back(commands[processes.size()]);
    double pause = 1;
    if (processes.size() < commands.size())
      pause = std::clamp(commands[processes.size()].start_seconds - elapsed(), 0.0, pause);
    signal.wait(pause);
    for (std::size_t i = 0; i < processes.size(); ++i)
      if (processes[i].is_running() && processes[i].collect(start, ended[i])) --running;
    if (running > 0 && elapsed() > limit_seconds)
      throw std::runtime_error(std::to_string(running) + " programs did not end in time");
  }
  return ended;
}

}  // namespace bench
