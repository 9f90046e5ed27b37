// SPDX-License-Identifier: Apache-2.0
#pragma once
// Connections over the network that never wait. Descriptors are plain numbers, closed with
// close_descriptor(); functions that fail return -errno.

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/network.hpp"

namespace nigh::platform {

// At a port that the system chooses, under all addresses of this host.
int listen_tcp() noexcept;
std::uint16_t tcp_port(int listener) noexcept;  // 0: it has none

int accept_tcp(int listener) noexcept;  // -EAGAIN: nobody waits

// Begins to connect. The end of that, good or bad, is an event at the socket: the other side's
// first bytes, or an error from receive_tcp().
int connect_tcp(NetworkAddress const& to, std::uint16_t port) noexcept;

// How many of the bytes; -EAGAIN: none just now.
int send_tcp(int socket, std::span<std::byte const> bytes) noexcept;
int receive_tcp(int socket, std::span<std::byte> into) noexcept;  // 0: the other side has ended

// The other side sees an end; what was sent still arrives.
void end_sending(int socket) noexcept;

}  // namespace nigh::platform
