// SPDX-License-Identifier: Apache-2.0
#pragma once
// The side of local sockets that others connect to.

#include <cstdint>
#include <filesystem>
#include <nigh/result.hpp>
#include <vector>

namespace nigh::platform {

// Replaces a socket that is there and has no listener; the caller makes sure of that. For messages
// (local_socket.hpp) or bytes. Users whom `mode` lets write may connect.
enum class Carries : std::uint8_t { messages, bytes };
result<int> listen_local(std::filesystem::path const& path, Carries what, unsigned mode);

// -EAGAIN: nobody waits. Other errors: somebody waits, and cannot be let in.
int accept_local(int listener) noexcept;

// Whether the other side has closed the connection. It may have sent something before.
bool has_hung_up(int socket) noexcept;

struct Peer {
  int pid = 0;
  unsigned user = 0;
};
// The process at the other end, as the system knows it. An error when the system does not say.
result<Peer> peer_of(int socket);
unsigned own_user() noexcept;

// Sockets that the system's service manager has opened for us (sd_listen_fds). They are handed out
// once.
std::vector<int> inherited_listeners();

// How many descriptors this process may have, after raising the limit as far as allowed.
int raise_descriptor_limit() noexcept;

}  // namespace nigh::platform
