// SPDX-License-Identifier: Apache-2.0
#include "platform/service.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "platform/child_ends.hpp"
#include "platform/program.hpp"

extern char** environ;

namespace nigh::platform {
namespace {

// The argument of sched_setattr(2), in its first version; the C library does not have it.
struct SchedAttributes {
  std::uint32_t size = sizeof(SchedAttributes);
  std::uint32_t policy = 0;  // SCHED_OTHER
  std::uint64_t flags = 1;   // SCHED_FLAG_RESET_ON_FORK: processes that it starts do not inherit it
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;  // of a time slice
  std::uint64_t deadline = 0, period = 0;
};
static_assert(sizeof(SchedAttributes) == 48);

}  // namespace

std::filesystem::path private_directory() {
  char const* const runtime = std::getenv("XDG_RUNTIME_DIR");
  struct stat what{};
  bool const is_ours = runtime != nullptr && *runtime == '/' && ::stat(runtime, &what) == 0 &&
                       S_ISDIR(what.st_mode) && what.st_uid == ::geteuid();
  if (is_ours) return std::filesystem::path(runtime) / "nigh";
  return "/tmp/nigh-" + std::to_string(::getuid());
}

bool adopts_orphans() noexcept {
  int is_subreaper = 0;
  return ::getpid() == 1 ||
         (::prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper) == 0 && is_subreaper != 0);
}

void wake_soon() noexcept {
  SchedAttributes wanted;
  wanted.nice = -10;
  wanted.runtime_ns = 100'000;
  if (::syscall(SYS_sched_setattr, 0, &wanted, 0U) == 0) return;
  wanted.nice = ::getpriority(PRIO_PROCESS, 0);
  ::syscall(SYS_sched_setattr, 0, &wanted, 0U);
}

result<int> ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int const signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    struct sigaction action{};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&set, signal);  // as SIGHUP is by nohup
  }
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return error{std::strerror(errno)};
  int const descriptor = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) return error{std::strerror(errno)};
  return descriptor;
}

void open_missing_standard_descriptors() noexcept {
  for (int const standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(standard, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDWR));
}

void refuse_without_signals() noexcept {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

int arrived_signal(int descriptor) noexcept {
  signalfd_siginfo signal{};
  if (::read(descriptor, &signal, sizeof signal) != sizeof signal) return 0;
  return static_cast<int>(signal.ssi_signo);
}

namespace {

result<void> leave_terminal() {
  ::setsid();
  if (::chdir("/") != 0) return error{std::strerror(errno)};
  int const nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) return error{std::strerror(errno)};
  for (int const standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, standard);
  ::close(nothing);
  return {};
}

// A child goes on, and gets the end of a pipe to write its number to once it serves. This process
// notes that number, and ends; an error, in this process alone, where the child has ended before.
result<int> fork_awaited(std::function<void(int pid)> const& note) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return error{std::strerror(errno)};
  auto const child = ::fork();
  if (child < 0) return error{std::strerror(errno)};
  if (child == 0) {
    ::close(ends[0]);
    return ends[1];
  }
  ::close(ends[1]);
  pid_t serving = 0;
  if (::read(ends[0], &serving, sizeof serving) != sizeof serving)
    return error{"the process in the background has ended before it served anybody"};
  note(serving);
  ::_exit(0);
}

// Waits for the child's end; meanwhile signals of the set, which are blocked, are passed on to it.
int status_of(pid_t child, sigset_t const& set) {
  for (;;) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) return status;
    int const signal = ::sigwaitinfo(&set, nullptr);
    if (signal > 0 && signal != SIGCHLD) ::kill(child, signal);
  }
}

}  // namespace

void tell_serving(Background& background) noexcept {
  if (background.awaited_at < 0) return;
  auto const me = ::getpid();
  [[maybe_unused]] auto const written = ::write(background.awaited_at, &me, sizeof me);
  ::close(background.awaited_at);
  background.awaited_at = -1;
}

result<Background> go_to_background(std::function<void(int pid)> const& note) {
  auto awaited = fork_awaited(note);
  if (!awaited) return awaited.to_error();
  if (auto const left = leave_terminal(); !left) return left.to_error();
  return Background{0, *awaited};
}

result<Background> go_to_background_and_stay(std::function<void(int pid)> const& note) {
  ::signal(SIGCHLD, SIG_DFL);  // may be ignored; then status_of() would wait for ever
  auto awaited = fork_awaited(note);
  if (!awaited) return awaited.to_error();
  if (auto const left = leave_terminal(); !left) return left.to_error();
  sigset_t set, news;
  sigemptyset(&news);
  sigaddset(&news, SIGCHLD);
  sigemptyset(&set);
  for (int const signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  constexpr int most_early_deaths = 5;
  constexpr time_t early_s = 10;
  for (int early = 0, killed_by = 0; early < most_early_deaths;) {
    auto const began = ::time(nullptr);
    auto const child = ::fork();
    if (child == 0) {
      ::sigprocmask(SIG_UNBLOCK, &news, nullptr);
      return Background{killed_by, *awaited};
    }
    if (child < 0) break;
    if (killed_by != 0) note(child);
    int const status = status_of(child, set);
    if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
    killed_by = WTERMSIG(status);
    if (killed_by == SIGTERM || killed_by == SIGINT || killed_by == SIGHUP) break;
    early = ::time(nullptr) - began < early_s ? early + 1 : 0;
  }
  ::_exit(1);
}

result<int> start_service(std::filesystem::path const& program,
                          std::vector<std::string> const& arguments, Complains complains) {
  std::string const name = program.string();
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), name);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (complains == Complains::no)
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  ChildEndsHeard const ends;
  pid_t child = 0;
  int const failed =
      ::posix_spawn(&child, name.c_str(), &files, nullptr, pointers_to(words).data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return error{"cannot run " + name + ": " + std::strerror(failed)};
  return wait_for(child, name);
}

}  // namespace nigh::platform
