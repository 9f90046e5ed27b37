// SPDX-License-Identifier: Apache-2.0
#include "platform/answering_child.hpp"

#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace nigh::platform {
namespace {

// The number that appears four times in a line "Uid: 0 0 0 0".
std::optional<unsigned> only_number(std::string const& line) {
  std::istringstream words(line);
  std::string name;
  std::array<unsigned, 4> ids{};
  words >> name >> ids[0] >> ids[1] >> ids[2] >> ids[3];
  if (!words || std::any_of(ids.begin(), ids.end(), [&](unsigned id) { return id != ids[0]; }))
    return {};
  return ids[0];
}

bool take_rights_of(User const& user) {
  return ::setgroups(0, nullptr) == 0 && ::setresgid(user.group, user.group, user.group) == 0 &&
         ::setresuid(user.id, user.id, user.id) == 0;
}

std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Sanitizers reserve the address space they need whenever they like.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool bounds_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool bounds_memory = false;
#else
constexpr bool bounds_memory = true;
#endif
#else
constexpr bool bounds_memory = true;
#endif

std::uint64_t allowed = 0;  // in a child

[[noreturn]] void answer_all(int socket, AnsweringChild::Bounds const& bounds, int parent,
                             std::function<AnsweringChild::Answer()> const& make) {
  constexpr int kept = STDERR_FILENO + 1;
  if (socket != kept && ::dup2(socket, kept) < 0) ::_exit(1);
  ::close_range(kept + 1, ~0U, 0);
  for (int const signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD})
    ::signal(signal, SIG_DFL);
  auto const seconds = static_cast<rlim_t>(bounds.seconds);
  rlimit const time{seconds, seconds + 1}, no_core{0, 0};
  if (::setrlimit(RLIMIT_CPU, &time) != 0 || ::setrlimit(RLIMIT_CORE, &no_core) != 0) ::_exit(1);
  if (bounds.user && !bounds.user->is_us && !take_rights_of(*bounds.user)) ::_exit(1);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // after the change of user, which forgets it
  if (::getppid() != parent) ::_exit(1);
  allowed = address_space();
  constexpr std::uint64_t at_first = 32 << 20;
  allow_memory(at_first);
  try {
    auto const answer = make();
    std::vector<char> question(AnsweringChild::longest_message);
    for (;;) {
      auto const got = ::recv(kept, question.data(), question.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) ::_exit(0);
      auto const said = answer({question.data(), static_cast<std::size_t>(got)});
      if (said.size() > AnsweringChild::longest_message ||
          ::send(kept, said.data(), said.size(), MSG_NOSIGNAL) < 0)
        ::_exit(1);
    }
  } catch (...) {
    ::_exit(1);  // out of memory
  }
}

}  // namespace

std::optional<User> user_of(int process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  std::optional<unsigned> id, group;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Uid:")) id = only_number(line);
    if (line.starts_with("Gid:")) group = only_number(line);
  }
  if (!id || !group) return {};
  return User{*id, *group, *id == ::getuid() && *id == ::geteuid()};
}

std::optional<AnsweringChild> AnsweringChild::start(Bounds const& bounds,
                                                    std::function<Answer()> const& make) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return {};
  int const parent = ::getpid();
  int const child = ::fork();
  if (child == 0) answer_all(ends[1], bounds, parent, make);
  ::close(ends[1]);
  if (child > 0) return AnsweringChild(child, ends[0], bounds.seconds);
  ::close(ends[0]);
  return {};
}

AnsweringChild::AnsweringChild(AnsweringChild&& from) noexcept
    : process_(std::exchange(from.process_, -1)),
      socket_(std::exchange(from.socket_, -1)),
      seconds_(from.seconds_) {}

AnsweringChild::~AnsweringChild() {
  if (process_ < 0) return;
  ::close(socket_);
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<std::string> AnsweringChild::ask(std::string_view question) {
  if (::send(socket_, question.data(), question.size(), MSG_NOSIGNAL) < 0) return {};
  using Clock = std::chrono::steady_clock;
  auto const until = Clock::now() + std::chrono::milliseconds(1500) * seconds_;
  for (;;) {
    auto const left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd ready{socket_, POLLIN, 0};
    int const n = ::poll(&ready, 1, static_cast<int>(std::max<decltype(left)>(left, 0)));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    std::string answer(longest_message, '\0');
    auto const got = ::recv(socket_, answer.data(), answer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    answer.resize(static_cast<std::size_t>(got));
    return answer;
  }
}

void allow_memory(std::uint64_t bytes) {
  if (!bounds_memory) return;
  allowed += bytes;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(allowed, limit.rlim_max);
  ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace nigh::platform
