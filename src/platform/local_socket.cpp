// SPDX-License-Identifier: Apache-2.0
#include "platform/local_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/clock.hpp"

namespace nigh::platform {
namespace {

iovec over(std::span<std::byte const> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

constexpr suseconds_t place_within_us = 100'000;

// Waits in the kernel, which wakes us when a place is free: another user who tries all the time
// would take nearly every place from a thread that looks each millisecond. Signals may interrupt
// it.
int connect_within(int socket, sockaddr_un const& address, std::int64_t most_us) noexcept {
  auto const until = base::now_us() + most_us;
  for (auto left = most_us; left > 0; left = until - base::now_us()) {
    timeval const patience{0, static_cast<suseconds_t>(left)};
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(socket, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0)
      return 0;
    if (errno != EINTR) return -errno;
  }
  return -EAGAIN;
}

// The system says who called listen(): root, for a service manager's socket.
bool is_trusted(int socket) noexcept {
  ucred who{};
  socklen_t size = sizeof who;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
         (who.uid == 0 || who.uid == ::geteuid());
}

constexpr std::int64_t second_ns = 1'000'000'000, longest_ns = 64 * second_ns;

// Since 1970, and before the year 2200: a file's time may be anything.
std::int64_t in_ns(std::int64_t seconds, std::int64_t ns) noexcept {
  return std::clamp<std::int64_t>(seconds, 0, 230LL * 366 * 86'400) * second_ns + ns;
}

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return in_ns(now.tv_sec, now.tv_nsec);
}

bool is_soon(std::int64_t time, std::int64_t now) noexcept {
  return now < time && time <= now + longest_ns;
}

// Of a socket file. By statx(): glibc's stat() and lstat() are newer than old systems.
struct Times {
  bool are_known = false;
  std::int64_t written = 0, changed = 0;
};
Times times_of(char const* path) noexcept {
  struct statx file{};
  constexpr unsigned wanted = STATX_TYPE | STATX_MTIME | STATX_CTIME;
  if (::statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, wanted, &file) != 0 || !S_ISSOCK(file.stx_mode))
    return {};
  return {true, in_ns(file.stx_mtime.tv_sec, file.stx_mtime.tv_nsec),
          in_ns(file.stx_ctime.tv_sec, file.stx_ctime.tv_nsec)};
}

}  // namespace

void put_off(char const* path) noexcept {
  auto const file = times_of(path);
  auto const now = now_ns(), last = file.written - file.changed;
  if (!file.are_known || is_soon(file.written, now)) return;  // another program was as quick
  bool const is_again = 0 < last && last <= longest_ns && now - file.written < longest_ns;
  auto const next = now + (is_again ? std::clamp(2 * last, second_ns, longest_ns) : second_ns);
  timespec const times[2] = {{0, UTIME_OMIT}, {next / second_ns, next % second_ns}};
  ::utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

bool is_put_off(char const* path) noexcept {
  auto const file = times_of(path);
  return file.are_known && is_soon(file.written, now_ns());
}

int connect_local(char const* path) noexcept {
  sockaddr_un address{};
  auto const length = std::strlen(path);
  if (length == 0 || length >= sizeof address.sun_path) return -ENAMETOOLONG;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, length);
  int const socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket < 0) return -errno;
  int const failed = connect_within(socket, address, place_within_us);
  if (failed == 0 && is_trusted(socket) && ::fcntl(socket, F_SETFL, O_NONBLOCK) == 0) return socket;
  ::close(socket);
  return failed == 0 ? -EPERM : failed;
}

int send_message(int socket, std::span<std::byte const> message, int passed) noexcept {
  auto part = over(message);
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (passed >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    auto* const c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &passed, sizeof passed);
  }
  for (;;) {
    if (::sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return 0;
    if (errno != EINTR) return -errno;
  }
}

int send_bytes(int socket, std::span<std::byte const> bytes) noexcept {
  for (;;) {
    auto const sent = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<int>(sent);
    if (errno != EINTR) return -errno;
  }
}

ArrivedMessage receive_message(int socket, std::span<std::byte> into) noexcept {
  iovec part{into.data(), into.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ArrivedMessage arrived;
  do {
    auto const size = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    arrived.size = size < 0 ? -errno : static_cast<int>(size);
  } while (arrived.size == -EINTR);
  if (arrived.size < 0) return arrived;
  for (auto* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c))
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
      std::memcpy(&arrived.passed, CMSG_DATA(c), sizeof arrived.passed);
  return arrived;
}

int receive_bytes(int socket, std::span<std::byte> into) noexcept {
  for (;;) {
    auto const size = ::recv(socket, into.data(), into.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (size >= 0) return static_cast<int>(size);
    if (errno != EINTR) return -errno;
  }
}

bool wait_until_readable(int socket, int timeout_ms) noexcept {
  pollfd one{socket, POLLIN, 0};
  return ::poll(&one, 1, timeout_ms) != 0;  // after a signal, too: the caller looks
}

void hang_up(int socket) noexcept { ::shutdown(socket, SHUT_RDWR); }

int duplicate_descriptor(int descriptor) noexcept {
  int const copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  return copy < 0 ? -errno : copy;
}
void close_descriptor(int descriptor) noexcept {
  if (descriptor >= 0) ::close(descriptor);
}

}  // namespace nigh::platform
