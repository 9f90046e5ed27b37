// SPDX-License-Identifier: Apache-2.0
#pragma once
// The side of local sockets that others connect to.

#include <cstdint>
#include <filesystem>
#include <nigh/result.hpp>
#include <vector>

namespace nigh::platform {

// In place of a socket that is there and that nobody listens at; whoever calls makes sure of that.
// Of messages (local_socket.hpp) or of bytes; it may be connected to by those whom `mode` lets
// write.
enum class Carries : std::uint8_t { messages, bytes };
result<int> listen_local(std::filesystem::path const& path, Carries what, unsigned mode);

// -EAGAIN: nobody waits. Other errors: somebody does, and cannot be let in.
int accept_local(int listener) noexcept;

struct Peer {
  int pid = 0;
  unsigned user = 0;
};
// Who is at the other end, as the system knows it. An error when it does not say.
result<Peer> peer_of(int socket);
unsigned own_user() noexcept;

// Sockets that the system's service manager has opened for us (sd_listen_fds), this once.
std::vector<int> inherited_listeners();

// How many descriptors this process may have; the limit is raised as far as it goes.
int raise_descriptor_limit() noexcept;

}  // namespace nigh::platform
