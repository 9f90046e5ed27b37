// SPDX-License-Identifier: Apache-2.0
#include "platform/tcp.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nigh::platform {
namespace {

constexpr int waiting_connections = 64;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  sockaddr const* get() const noexcept { return reinterpret_cast<sockaddr const*>(&bytes); }
};

Address with_port(NetworkAddress const& address, std::uint16_t port) noexcept {
  Address full;
  if (address.is_v6 != 0) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, address.bytes.data(), sizeof v6.sin6_addr);
    std::memcpy(&full.bytes, &v6, full.size = sizeof v6);
  } else {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes.data(), sizeof v4.sin_addr);
    std::memcpy(&full.bytes, &v4, full.size = sizeof v4);
  }
  return full;
}

void send_small_messages_at_once(int socket) noexcept {
  int const on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int listen_under(bool is_v6) noexcept {
  int const family = is_v6 ? AF_INET6 : AF_INET;
  int const listener = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -errno;
  int const off = 0;  // IPv4's addresses, too
  auto const any = with_port({{}, is_v6}, 0);
  if ((!is_v6 || ::setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0) &&
      ::bind(listener, any.get(), any.size) == 0 && ::listen(listener, waiting_connections) == 0)
    return listener;
  int const failed = errno;
  ::close(listener);
  return -failed;
}

}  // namespace

int listen_tcp() noexcept {
  int const both = listen_under(true);
  return both >= 0 ? both : listen_under(false);
}

std::uint16_t tcp_port(int listener) noexcept {
  Address own;
  own.size = sizeof own.bytes;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&own.bytes), &own.size) != 0) return 0;
  if (own.bytes.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &own.bytes, sizeof v6);
    return ntohs(v6.sin6_port);
  }
  sockaddr_in v4{};
  std::memcpy(&v4, &own.bytes, sizeof v4);
  return ntohs(v4.sin_port);
}

int accept_tcp(int listener) noexcept {
  for (;;) {
    int const socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) send_small_messages_at_once(socket);
    if (socket >= 0) return socket;
    if (errno != EINTR && errno != ECONNABORTED) return -errno;
  }
}

int connect_tcp(NetworkAddress const& to, std::uint16_t port) noexcept {
  auto const address = with_port(to, port);
  int const socket =
      ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return -errno;
  send_small_messages_at_once(socket);
  if (::connect(socket, address.get(), address.size) == 0 || errno == EINPROGRESS) return socket;
  int const failed = errno;
  ::close(socket);
  return -failed;
}

int send_tcp(int socket, std::span<std::byte const> bytes) noexcept {
  for (;;) {
    auto const sent = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<int>(sent);
    if (errno != EINTR) return -errno;
  }
}

int receive_tcp(int socket, std::span<std::byte> into) noexcept {
  for (;;) {
    auto const arrived = ::recv(socket, into.data(), into.size(), MSG_DONTWAIT);
    if (arrived >= 0) return static_cast<int>(arrived);
    if (errno != EINTR) return -errno;
  }
}

void end_sending(int socket) noexcept { ::shutdown(socket, SHUT_WR); }

}  // namespace nigh::platform
