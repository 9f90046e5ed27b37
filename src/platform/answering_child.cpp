// SPDX-License-Identifier: Apache-2.0
#include "platform/answering_child.hpp"

#include <fcntl.h>
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
#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

namespace nigh::platform {
namespace {

using Clock = std::chrono::steady_clock;

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

// False: that takes too long, or poll() fails.
bool is_ready(int socket, short what, Clock::time_point until) {
  for (;;) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd wait{socket, what, 0};
    int const n = left <= 0 ? 0 : ::poll(&wait, 1, static_cast<int>(std::min<long>(left, INT_MAX)));
    if (n >= 0 || errno != EINTR) return n > 0;
  }
}

bool send_bytes(int socket, std::string_view bytes, Clock::time_point until) {
  while (!bytes.empty()) {
    if (!is_ready(socket, POLLOUT, until)) return false;
    auto const n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// False: not so many bytes come in time.
bool receive_bytes(int socket, char* into, std::uint64_t size, Clock::time_point until) {
  while (size > 0) {
    if (!is_ready(socket, POLLIN, until)) return false;
    auto const n = ::recv(socket, into, size, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return false;
    into += n;
    size -= static_cast<std::uint64_t>(n);
  }
  return true;
}

// Its size comes first, in both directions.
bool send_message(int socket, std::string_view message, Clock::time_point until) {
  std::uint64_t const size = message.size();
  std::array<char, sizeof size> first;
  std::memcpy(first.data(), &size, sizeof size);
  return send_bytes(socket, {first.data(), first.size()}, until) &&
         send_bytes(socket, message, until);
}

// Takes memory for what has come, and not for what the other side says will.
std::optional<std::string> receive_message(int socket, std::uint64_t most,
                                           Clock::time_point until) {
  std::array<char, sizeof(std::uint64_t)> first;
  std::uint64_t size = 0;
  if (!receive_bytes(socket, first.data(), first.size(), until)) return {};
  std::memcpy(&size, first.data(), sizeof size);
  if (size > most) return {};
  std::string message;
  constexpr std::uint64_t part = 1 << 16;
  while (message.size() < size) {
    auto const had = message.size();
    message.resize(had + std::min(part, size - had));
    if (!receive_bytes(socket, message.data() + had, message.size() - had, until)) return {};
  }
  return message;
}

bool limit_to(int what, rlim_t most) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(what), &limit) != 0) return false;
  limit.rlim_cur = std::min(limit.rlim_cur, most);
  return ::setrlimit(static_cast<__rlimit_resource_t>(what), &limit) == 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t sanitizers_bytes = 256 << 20;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::uint64_t sanitizers_bytes = 256 << 20;
#else
constexpr std::uint64_t sanitizers_bytes = 0;
#endif
#else
constexpr std::uint64_t sanitizers_bytes = 0;
#endif

// On top of what there is: sanitizers have reserved terabytes before.
bool limit_memory(std::uint64_t more_bytes) {
  unsigned long long all = 0, data = 0;
  std::unique_ptr<FILE, int (*)(FILE*)> const statm(std::fopen("/proc/self/statm", "re"),
                                                    &std::fclose);
  if (statm == nullptr || std::fscanf(statm.get(), "%llu %*u %*u %*u %*u %llu", &all, &data) != 2)
    return false;
  auto const page = static_cast<unsigned long long>(::sysconf(_SC_PAGESIZE));
  constexpr std::uint64_t libraries = 64 << 20;  // mapped, and shared with others
  more_bytes += sanitizers_bytes;
  return limit_to(RLIMIT_DATA, data * page + more_bytes) &&
         limit_to(RLIMIT_AS, all * page + more_bytes + libraries);
}

bool take_rights_of(User const& user) {
  return ::setgroups(0, nullptr) == 0 && ::setresgid(user.group, user.group, user.group) == 0 &&
         ::setresuid(user.id, user.id, user.id) == 0;
}

// False: it would have more than it may.
bool become_limited(ChildLimits const& limits, int parent) {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  bool const is_limited =
      limit_to(RLIMIT_CPU, static_cast<rlim_t>(limits.processor_time.count())) &&
      limit_to(RLIMIT_CORE, 0) && limit_memory(limits.memory_bytes);
  if (limits.user && !limits.user->is_us && !take_rights_of(*limits.user)) return false;
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // after the change of user, which forgets it
  return is_limited && ::getppid() == parent;
}

// The socket's new number. All others are closed, and the first three lead nowhere.
int keep_only(int socket) {
  constexpr int kept = STDERR_FILENO + 1;
  if (socket != kept && ::dup2(socket, kept) < 0) ::_exit(1);
  int const nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int const fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (nowhere < 0 || ::dup2(nowhere, fd) < 0) ::close(fd);
  ::close_range(kept + 1, ~0U, 0);
  return kept;
}

[[noreturn]] void answer_all(int socket, ChildLimits const& limits, int parent,
                             std::function<AnsweringChild::Answer()> const& make) {
  socket = keep_only(socket);
  if (!become_limited(limits, parent)) ::_exit(1);
  try {
    auto const answer = make();
    constexpr auto never = Clock::time_point::max();
    for (;;) {
      auto const question = receive_message(socket, ~std::uint64_t{0}, never);
      auto const said = question ? answer(*question) : std::nullopt;
      if (!said || !send_message(socket, *said, never)) ::_exit(0);
    }
  } catch (...) {
    ::_exit(1);  // out of memory
  }
}

// Killed children that had not ended in time: one that reads a file of FUSE whose server does not
// answer, or one that a process of its user traces. They are looked for again when the next one
// starts or ends.
struct {
  std::mutex mutex;
  std::vector<int> processes;
} late;

// An error of waitpid: somebody else in this program has waited for it, as for any child.
bool has_gone(int child) { return ::waitpid(child, nullptr, WNOHANG) != 0; }

void reap_late_children() {
  std::lock_guard const lock(late.mutex);
  std::erase_if(late.processes, has_gone);
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

result<AnsweringChild> AnsweringChild::start(ChildLimits const& limits,
                                             std::function<Answer()> const& make) {
  reap_late_children();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return error{std::string("there can be no socket: ") + std::strerror(errno)};
  int const parent = ::getpid();
  int const child = ::fork();
  if (child == 0) answer_all(ends[1], limits, parent, make);
  int const failed = errno;
  ::close(ends[1]);
  if (child > 0) return AnsweringChild(child, ends[0], limits);
  ::close(ends[0]);
  return error{std::string("there can be no process: ") + std::strerror(failed)};
}

AnsweringChild::AnsweringChild(AnsweringChild&& from) noexcept
    : process_(std::exchange(from.process_, -1)),
      socket_(std::exchange(from.socket_, -1)),
      limits_(from.limits_) {}

void AnsweringChild::end() {
  if (process_ < 0) return;
  reap_late_children();
  ::close(socket_);
  ::kill(process_, SIGKILL);
  constexpr std::chrono::milliseconds patience{100}, between_looks{1};
  auto const until = Clock::now() + patience;
  while (!has_gone(process_)) {
    if (Clock::now() >= until) {
      std::lock_guard const lock(late.mutex);
      late.processes.push_back(process_);
      break;
    }
    std::this_thread::sleep_for(between_looks);
  }
  process_ = -1;
}

std::optional<std::string> AnsweringChild::ask(std::string_view question) {
  if (process_ < 0) return {};
  auto const until = Clock::now() + limits_.answer_time;
  std::optional<std::string> answer;
  if (send_message(socket_, question, until))
    answer = receive_message(socket_, limits_.answer_bytes, until);
  if (!answer) end();  // what it says later would be taken for its answer to the next question
  return answer;
}

void allow_memory(std::uint64_t bytes) {
  for (auto const what : {RLIMIT_DATA, RLIMIT_AS}) {
    rlimit limit{};
    if (::getrlimit(what, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    limit.rlim_cur += std::min<rlim_t>(bytes, limit.rlim_max - limit.rlim_cur);
    ::setrlimit(what, &limit);
  }
}

result<std::optional<std::string>> do_apart(std::function<std::optional<std::string>()> const& work,
                                            ChildLimits const& limits) {
  auto child = AnsweringChild::start(
      limits, [&]() -> AnsweringChild::Answer { return [&](std::string_view) { return work(); }; });
  if (!child) return child.to_error();
  return child->ask("");
}

}  // namespace nigh::platform
