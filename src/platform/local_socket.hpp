// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sockets between processes of one host that carry whole messages, and descriptors with them.
//
// For use inside programs that are not ours: nothing here throws or allocates. Descriptors are
// plain numbers; functions that fail return -errno.

#include <cstddef>
#include <span>

namespace nigh::platform {

// Where too many connections wait to be accepted, it waits up to 100 ms for a place among them, and
// then fails with -EAGAIN. It also fails, with -EPERM, where neither our user nor root listens.
int connect_local(char const* path) noexcept;

// For programs that come one after the other: the first that finds a listener silent puts off the
// others for a second, or for twice as long as the last time, up to 64 s. They read it from the
// socket file's time of change, which then lies in the future; only its owner and root can set
// that. A new listener makes a new file.
void put_off(char const* path) noexcept;
bool is_put_off(char const* path) noexcept;

// Sends all of it, now, or nothing; `passed` is a descriptor to send with it.
int send_message(int socket, std::span<std::byte const> message, int passed = -1) noexcept;

// For a socket without messages: sends as many bytes as there is room for now, and returns their
// number.
int send_bytes(int socket, std::span<std::byte const> bytes) noexcept;

struct ArrivedMessage {
  int size = 0;     // of the message, which may be more than fits; 0: the other side is gone, or
                    // has sent nothing as a message; -EAGAIN: none is there
  int passed = -1;  // a descriptor that came with it: the receiver's to close
};
ArrivedMessage receive_message(int socket, std::span<std::byte> into) noexcept;
// Passed descriptors are not accepted.
int receive_bytes(int socket, std::span<std::byte> into) noexcept;

// True when something may have arrived, or the connection has ended.
bool wait_until_readable(int socket, int timeout_ms) noexcept;

// Ends the connection, also for others that use it here; the number stays taken.
void hang_up(int socket) noexcept;
int duplicate_descriptor(int descriptor) noexcept;
void close_descriptor(int descriptor) noexcept;

}  // namespace nigh::platform
