// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which process a number means: the system gives the numbers of ended processes to others.

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <type_traits>

namespace nigh::platform {

struct ProcessIdentity {
  int pid = 0;
  std::uint64_t started = 0;  // as /proc/PID/stat says; 0: not known, or gone by then

  auto operator<=>(ProcessIdentity const&) const = default;

  // Whether the number still means that process. False where the start is not known.
  bool is_there() const;

  // Whether that process has ended, which other processes that share its files may outlive. False
  // where the system does not say; not exact once the number means another process.
  bool has_ended() const;

  // The result of `look` below /proc/PID. Nothing if the process was gone before or is gone
  // afterwards: the result may then be another process's.
  template <class Look>
  std::optional<std::invoke_result_t<Look const&>> look(Look const& look_at) const {
    if (!is_there()) return std::nullopt;
    std::optional<std::invoke_result_t<Look const&>> found = look_at();
    if (!is_there()) found.reset();
    return found;
  }
};

// The process that has connected this local socket; the system gives its number as `pid`. Its start
// is read while a pidfd, of the socket's peer (Linux 6.5) or else of the number, tells that it has
// not ended.
ProcessIdentity identity_of_peer(int socket, int pid);

// A descriptor that can be read once that process has ended, whichever process's child it is
// (pidfd_open(2), Linux 5.3); or the system's error, negative.
int open_process(int pid);

// Which processes this one's numbers of processes mean; 0: the system does not say.
std::uint64_t pid_namespace();

// When the process with this number was started, in the system's ticks; 0: the system does not say.
std::uint64_t start_of(int pid, std::filesystem::path const& root = "/");

}  // namespace nigh::platform
