// SPDX-License-Identifier: Apache-2.0
#pragma once
// The side of local sockets that others connect to.

#include <cstdint>
#include <filesystem>
#include <nigh/result.hpp>
#include <vector>

namespace nigh::platform {

// Replaces a socket that is there and has no listener; an error if it has one. For messages
// (local_socket.hpp) or bytes. Users whom `mode` lets write may connect. Sets the umask for a
// moment.
enum class Carries : std::uint8_t { messages, bytes };
result<int> bind_local(std::filesystem::path const& path, Carries what, unsigned mode);
// From now on others may connect.
result<void> listen_at(int socket);
// Both.
result<int> listen_local(std::filesystem::path const& path, Carries what, unsigned mode);

// The file of a socket that this process listens at. No other file has its numbers meanwhile.
struct SocketFile {
  std::filesystem::path path = {};  // empty: there is none
  std::uint64_t device = 0, number = 0;
};
SocketFile socket_file(std::filesystem::path path);
// Unless another file stands there by now.
void remove(SocketFile const& file) noexcept;

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
