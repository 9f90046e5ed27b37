// SPDX-License-Identifier: Apache-2.0
#include "platform/local_listener.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace nigh::platform {
namespace {

constexpr int first_inherited = 3;

// Of the socket's file, of whichever kind it is: ECONNREFUSED is the only word that nobody listens.
bool is_deserted(sockaddr_un const& address) {
  int const connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connection < 0) return false;
  bool const refused =
      ::connect(connection, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  ::close(connection);
  return refused;
}

long number_from_environment(char const* name) {
  char const* const text = std::getenv(name);
  return text == nullptr ? -1 : std::strtol(text, nullptr, 10);
}

}  // namespace

result<int> bind_local(std::filesystem::path const& path, Carries what, unsigned mode) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto const& name = path.native();
  auto const said_no = [&] { return error{name + ": " + std::strerror(errno)}; };
  if (name.empty() || name.size() >= sizeof address.sun_path)
    return error{name + ": a socket's path has at most " +
                 std::to_string(sizeof address.sun_path - 1) + " bytes"};
  std::memcpy(address.sun_path, name.c_str(), name.size());
  struct stat there{};
  if (::lstat(name.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) return error{name + ": something is there that is no socket"};
    if (!is_deserted(address)) return error{name + ": a socket of another program is there"};
    if (::unlink(name.c_str()) != 0) return said_no();
  }
  int const type = what == Carries::messages ? SOCK_SEQPACKET : SOCK_STREAM;
  int const listener = ::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return said_no();
  // The file gets the socket's mode: by its name another's file might be changed.
  auto const before = ::umask(0);
  bool const done =
      ::fchmod(listener, mode) == 0 &&
      ::bind(listener, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0;
  ::umask(before);
  if (done) return listener;
  auto failed = said_no();
  ::close(listener);
  return failed;
}

result<void> listen_at(int socket) {
  if (::listen(socket, SOMAXCONN) != 0) return error{std::strerror(errno)};
  return {};
}

result<int> listen_local(std::filesystem::path const& path, Carries what, unsigned mode) {
  auto const bound = bind_local(path, what, mode);
  if (!bound) return bound;
  if (auto const done = listen_at(*bound); !done) {
    ::close(*bound);
    return error{path.string() + ": " + done.message()};
  }
  return bound;
}

SocketFile socket_file(std::filesystem::path path) {
  struct stat there{};
  if (path.empty() || ::lstat(path.c_str(), &there) != 0) return {};
  return {std::move(path), there.st_dev, there.st_ino};
}

void remove(SocketFile const& file) noexcept {
  struct stat there{};
  if (!file.path.empty() && ::lstat(file.path.c_str(), &there) == 0 &&
      there.st_dev == file.device && there.st_ino == file.number)
    ::unlink(file.path.c_str());
}

int accept_local(int listener) noexcept {
  for (;;) {
    int const socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) return socket;
    if (errno != EINTR && errno != ECONNABORTED) return -errno;
  }
}

bool has_hung_up(int socket) noexcept {
  pollfd one{socket, 0, 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & POLLHUP) != 0;
}

result<Peer> peer_of(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return error{std::strerror(errno)};
  return Peer{who.pid, who.uid};
}

unsigned own_user() noexcept { return ::getuid(); }

std::vector<int> inherited_listeners() {
  std::vector<int> sockets;
  if (number_from_environment("LISTEN_PID") == ::getpid()) {
    auto const count = std::clamp(number_from_environment("LISTEN_FDS"), 0L, 16L);
    for (int fd = first_inherited; fd < first_inherited + static_cast<int>(count); ++fd) {
      ::fcntl(fd, F_SETFD, FD_CLOEXEC);
      ::fcntl(fd, F_SETFL, O_NONBLOCK);
      sockets.push_back(fd);
    }
  }
  ::unsetenv("LISTEN_PID");
  ::unsetenv("LISTEN_FDS");
  ::unsetenv("LISTEN_FDNAMES");
  return sockets;
}

int raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 1 << 20));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
}

}  // namespace nigh::platform
