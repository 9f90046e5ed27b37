// SPDX-License-Identifier: Apache-2.0
// Children. The parent waits for signals one by one, SIGCHLD among them, with a timeout: no
// handler runs, so there is nothing for one to race with.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

#include "platform/child_ends.hpp"
#include "platform/launch.hpp"
#include "platform/process_usage.hpp"
#include "platform/program.hpp"

namespace nigh::platform {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (int const s : signals) sigaddset(&set, s);
  return set;
}

// All that others may send, less those that cannot be held, and those of our own faults and writes.
sigset_t passed_on() {
  auto set = set_of({SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH,
                     SIGTSTP, SIGCONT, SIGTTIN,   SIGTTOU, SIGALRM, SIGPROF, SIGXCPU,
                     SIGXFSZ, SIGPWR,  SIGVTALRM, SIGIO,   SIGURG,  SIGCHLD});
  for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) sigaddset(&set, s);
  return set;
}
// The terminal sends these to all processes in its foreground.
bool is_from_terminal(siginfo_t const& info) {
  auto const terminals =
      set_of({SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT, SIGTTIN, SIGTTOU});
  return info.si_code == SI_KERNEL && sigismember(&terminals, info.si_signo) == 1;
}
void pass_on(siginfo_t const& info, pid_t child) {
  if (info.si_code == SI_QUEUE)
    ::sigqueue(child, info.si_signo, info.si_value);
  else
    ::kill(child, info.si_signo);
}

// A program that replaced us would keep timers that somebody has set before, as an alarm. fork()
// leaves them to the parent.
class HandedTimers {
 public:
  HandedTimers() {
    itimerval const none{};
    for (std::size_t i = 0; i < kinds.size(); ++i) ::setitimer(kinds[i], &none, &timers_[i]);
  }
  void set() const {
    for (std::size_t i = 0; i < kinds.size(); ++i) ::setitimer(kinds[i], &timers_[i], nullptr);
  }

 private:
  static constexpr std::array kinds{ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  std::array<itimerval, kinds.size()> timers_{};
};

// Without those that are ignored, as SIGHUP is by nohup: they would be taken in all the same while
// they are blocked.
sigset_t heard_of(std::initializer_list<int> signals) {
  auto set = set_of(signals);
  for (int const s : signals) {
    struct sigaction action{};
    ::sigaction(s, nullptr, &action);
    if (action.sa_handler == SIG_IGN) sigdelset(&set, s);
  }
  return set;
}
sigset_t ending() { return heard_of({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}); }
sigset_t ending_or_pausing() {
  auto set = heard_of({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP});
  sigaddset(&set, SIGCHLD);
  return set;
}

class Blocked {
 public:
  explicit Blocked(sigset_t const& set) { ::sigprocmask(SIG_BLOCK, &set, &before_); }
  ~Blocked() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Blocked(Blocked&&) = delete;
  sigset_t const& before() const { return before_; }

 private:
  sigset_t before_;
};

// The next signal of the set; 0 when none came in time.
int next_signal(sigset_t const& set, nanoseconds timeout, siginfo_t& info) {
  timeout = std::max(timeout, nanoseconds(0));
  auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  timespec const wait{static_cast<time_t>(seconds.count()),
                      static_cast<long>((timeout - seconds).count())};
  int const got = ::sigtimedwait(&set, &info, &wait);
  return std::max(got, 0);
}

// The messages of a child before it becomes its program: nothing, or lines of "c" + complaint, and
// "e" + three digits of status + message when it could not. The pipe closes when the program
// begins.
class Report {
 public:
  Report() { valid_ = ::pipe2(ends_, O_CLOEXEC) == 0; }
  ~Report() { close(0), close(1); }
  Report(Report&&) = delete;
  bool valid() const { return valid_; }

  void say(std::string line) const {
    std::replace(line.begin(), line.end(), '\n', ' ');  // of a program's name
    line += '\n';
    static_cast<void>(!::write(ends_[1], line.data(), line.size()));
  }

  std::optional<NotStarted> hear(Complain const& complain) {
    close(1);
    std::string text;
    char part[512];
    for (ssize_t n = 0; (n = ::read(ends_[0], part, sizeof part)) != 0;) {
      if (n > 0) text.append(part, static_cast<std::size_t>(n));
      if (n < 0 && errno != EINTR) break;
    }
    std::optional<NotStarted> failed;
    for (std::size_t at = 0; at < text.size();) {
      auto const end = std::min(text.find('\n', at), text.size());
      auto const line = text.substr(at, end - at);
      at = end + 1;
      if (line.starts_with('c') && complain) complain(line.substr(1));
      if (line.starts_with('e')) failed = NotStarted{line.substr(4), std::stoi(line.substr(1, 3))};
    }
    return failed;
  }

 private:
  void close(int end) {
    if (valid_ && ends_[end] >= 0) ::close(std::exchange(ends_[end], -1));
  }

  int ends_[2] = {-1, -1};
  bool valid_ = false;
};

[[noreturn]] void be_child(Launch const& launch, Report const& report) {
  auto const failed = become(launch, [&](std::string const& what) { report.say("c" + what); });
  report.say("e" + std::to_string(failed.status) + failed.message);
  ::_exit(failed.status);
}

void note_end(int status, rusage const& used, Clock::time_point start, Ending& ending) {
  auto const seconds = [](timeval const& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ending.status = exit_status(status);
  ending.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  ending.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
}

// ^Z: the shell that waits for us must see it. Returns how long we were stopped.
nanoseconds stop_until_continued() {
  auto const since = Clock::now();
  ::raise(SIGSTOP);
  return Clock::now() - since;
}

error no_process() { return error{std::string("cannot start a process: ") + std::strerror(errno)}; }

}  // namespace

result<Ending> run_supervised(Launch const& launch, Supervision const& how) {
  auto const heard = passed_on();
  Blocked const blocked(heard);
  ChildEndsHeard const ends;
  Report report;
  if (!report.valid()) return no_process();
  auto const parent = ::getpid();
  auto start = Clock::now();
  HandedTimers const timers;
  auto const child = ::fork();
  if (child < 0) return timers.set(), no_process();
  if (child == 0) {
    timers.set();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(128 + SIGKILL);
    ends.restore();
    ::sigprocmask(SIG_SETMASK, &blocked.before(), nullptr);
    be_child(launch, report);
  }
  Ending ending;
  ending.not_started = report.hear(how.complain);
  auto next_look = start + how.pause;
  constexpr nanoseconds long_time = std::chrono::hours(1);
  for (;;) {
    int status = 0;
    rusage used{};
    auto const changed = ::wait4(child, &status, WNOHANG | WUNTRACED, &used);
    if (changed < 0 && errno != EINTR)
      return error{"lost " + launch.words.front() + ": " + std::strerror(errno)};
    siginfo_t info{};
    if (changed == child && !WIFSTOPPED(status)) {
      note_end(status, used, start, ending);
      // ^C has ended both: what is known of the program is still told.
      while (next_signal(heard, nanoseconds(0), info) > 0) continue;
      return ending;
    }
    if (changed == child) {
      start += stop_until_continued();
      ::kill(child, SIGCONT);
      continue;
    }
    int const got = next_signal(heard, how.look ? next_look - Clock::now() : long_time, info);
    if (got > 0 && got != SIGCHLD && !is_from_terminal(info)) pass_on(info, child);
    if (how.look && Clock::now() >= next_look) next_look = Clock::now() + how.look(child);
  }
}

result<Ending> run_measured(Launch const& launch, std::filesystem::path const& output,
                            std::optional<nanoseconds> limit) {
  auto const heard = ending_or_pausing();
  Blocked const blocked(heard);
  ChildEndsHeard const ends;
  Report report;
  if (!report.valid()) return no_process();
  auto start = Clock::now();
  auto const child = ::fork();
  if (child < 0) return no_process();
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    int const in = ::open("/dev/null", O_RDONLY);
    int const out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (in < 0 || out < 0) {
      report.say("e126cannot write " + output.string() + ": " + std::strerror(errno));
      ::_exit(126);
    }
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::close(in), ::close(out);
    ends.restore();
    ::sigprocmask(SIG_UNBLOCK, &heard, nullptr);
    be_child(launch, report);
  }
  Ending ending;
  std::string refused;
  ending.not_started = report.hear([&](std::string const& what) { refused = what; });
  if (!ending.not_started && !refused.empty()) ending.not_started = NotStarted{refused, 125};
  constexpr nanoseconds mercy = std::chrono::seconds(2);
  auto deadline = start + limit.value_or(std::chrono::hours(24 * 365));
  for (;;) {
    int status = 0;
    rusage used{};
    auto const changed = ::wait4(child, &status, WNOHANG, &used);
    if (changed < 0 && errno != EINTR)
      return error{"lost " + launch.words.front() + ": " + std::strerror(errno)};
    if (changed == child) {
      note_end(status, used, start, ending);
      ::kill(-child, SIGKILL);  // what it left running would disturb the next run
      return ending;
    }
    siginfo_t info{};
    int got = next_signal(heard, deadline - Clock::now(), info);
    if (got == SIGCHLD) continue;
    if (got == SIGTSTP) {
      ::kill(-child, SIGSTOP);
      auto const pause = stop_until_continued();
      ::kill(-child, SIGCONT);
      start += pause;
      deadline += pause;
      continue;
    }
    if (got == 0 && Clock::now() < deadline) continue;
    if (got == 0) got = limit_reached;
    bool const again = ending.interrupted != 0;
    if (!again) ending.interrupted = got;
    if (again)  // those that left the group, as ranks under mpirun do
      for (int const pid : process_tree(child)) ::kill(pid, SIGKILL);
    ::kill(-child, again ? SIGKILL : SIGTERM);
    deadline = Clock::now() + mercy;
  }
}

SignalsHeld::SignalsHeld() {
  auto const set = ending();
  ::sigprocmask(SIG_BLOCK, &set, &before_);
}

SignalsHeld::~SignalsHeld() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

int SignalsHeld::pending() noexcept {
  siginfo_t info{};
  return next_signal(ending(), nanoseconds(0), info);
}

}  // namespace nigh::platform
