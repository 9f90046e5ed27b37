// SPDX-License-Identifier: Apache-2.0
#include "platform/apart.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

namespace nigh::platform {
namespace {

using Clock = std::chrono::steady_clock;

void limit_to(int what, rlim_t most) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(what), &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, most);
  ::setrlimit(static_cast<__rlimit_resource_t>(what), &limit);
}

// Sanitizers have reserved terabytes before; the limit counts from there.
void limit_memory(std::size_t more_bytes) {
  unsigned long long all = 0, data = 0;
  std::unique_ptr<FILE, int (*)(FILE*)> const statm(std::fopen("/proc/self/statm", "re"),
                                                    &std::fclose);
  if (statm == nullptr || std::fscanf(statm.get(), "%llu %*u %*u %*u %*u %llu", &all, &data) != 2)
    return;
  auto const page = static_cast<unsigned long long>(::sysconf(_SC_PAGESIZE));
  constexpr std::size_t libraries = std::size_t{64} << 20;  // mapped, and shared with others
  limit_to(RLIMIT_DATA, data * page + more_bytes);
  limit_to(RLIMIT_AS, all * page + more_bytes + libraries);
}

void send_all(int to, void const* what, std::size_t size) {
  auto const* at = static_cast<char const*>(what);
  while (size > 0) {
    auto const n = ::write(to, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

// The size comes first: an answer that was cut off counts as none.
[[noreturn]] void be_child(std::function<std::optional<std::string>()> const& work,
                           ApartLimits const& limits, int answer) {
  // The handlers of this program are for its own crashes.
  for (int const s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU, SIGPIPE, SIGTERM})
    ::signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int const nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int const fd : {0, 1, 2})
    if (nowhere >= 0 && answer != fd) ::dup2(nowhere, fd);
  limit_to(RLIMIT_CORE, 0);
  limit_to(RLIMIT_CPU, static_cast<rlim_t>(limits.processor_time.count()));
  limit_memory(limits.memory_bytes);
  try {
    if (auto const got = work()) {
      std::uint64_t const size = got->size();
      send_all(answer, &size, sizeof size);
      send_all(answer, got->data(), got->size());
    }
  } catch (std::exception const&) {  // no memory
  }
  ::_exit(0);
}

// Nothing when it takes too long, or is too long.
std::optional<std::string> everything_from(int pipe, std::size_t most, Clock::time_point until) {
  std::string got;
  std::array<char, 1 << 16> part;
  for (;;) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd wait{pipe, POLLIN, 0};
    int const ready = left <= 0 ? 0 : ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    auto const n = ::read(pipe, part.data(), part.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) return got;
    got.append(part.data(), static_cast<std::size_t>(n));
    if (got.size() > most + sizeof(std::uint64_t)) return std::nullopt;
  }
}

}  // namespace

result<std::optional<std::string>> do_apart(std::function<std::optional<std::string>()> const& work,
                                            ApartLimits const& limits) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return error{std::string("there can be no pipe: ") + std::strerror(errno)};
  auto const until = Clock::now() + limits.wall_time;
  pid_t const child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    be_child(work, limits, ends[1]);
  }
  int const failed = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return error{std::string("there can be no process: ") + std::strerror(failed)};
  }
  auto got = everything_from(ends[0], limits.answer_bytes, until);
  ::close(ends[0]);
  ::kill(child, SIGKILL);  // it has answered, or never will
  // Other code of this program may have waited for any child, and so for this one.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::uint64_t size = 0;
  if (!got || got->size() < sizeof size) return std::optional<std::string>();
  std::memcpy(&size, got->data(), sizeof size);
  if (got->size() - sizeof size != size) return std::optional<std::string>();
  got->erase(0, sizeof size);
  return got;
}

}  // namespace nigh::platform
