// SPDX-License-Identifier: Apache-2.0
#include "platform/process_identity.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "platform/process_stat.hpp"

// Newer than the headers of Debian 12.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace nigh::platform {
namespace {

// The descriptor, or the system's error, negative.
int pidfd_of_peer(int socket, int pid) {
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0) return pidfd;
  return errno == ENOPROTOOPT ? open_process(pid) : -errno;
}

// A pidfd can be read when its process has ended.
bool can_be_read(int pidfd) {
  pollfd ended{pidfd, POLLIN, 0};
  return ::poll(&ended, 1, 0) != 0;
}

}  // namespace

int open_process(int pid) {
  auto const opened = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  return opened >= 0 ? opened : -errno;
}

std::uint64_t pid_namespace() {
  struct stat what{};
  return ::stat("/proc/self/ns/pid", &what) == 0 ? what.st_ino : 0;
}

std::uint64_t start_of(int pid, std::filesystem::path const& root) {
  auto const stat = read_stat(root / "proc" / std::to_string(pid) / "stat");
  if (pid <= 0 || !stat) return 0;
  constexpr std::size_t starttime = 22;
  return static_cast<std::uint64_t>(stat->number(starttime).value_or(0));
}

bool ProcessIdentity::is_there() const { return started != 0 && start_of(pid) == started; }

bool ProcessIdentity::has_ended() const {
  if (started == 0) return false;
  int const pidfd = open_process(pid);
  if (pidfd < 0) return pidfd == -ESRCH;
  bool const has = can_be_read(pidfd);
  ::close(pidfd);
  return has;
}

ProcessIdentity identity_of_peer(int socket, int pid) {
  int const pidfd = pidfd_of_peer(socket, pid);
  bool const is_gone = pidfd == -ESRCH || pidfd == -EINVAL;
  ProcessIdentity who{pid, is_gone ? 0 : start_of(pid)};
  if (pidfd < 0) return who;  // an older system, or no descriptor left: the number has to do
  if (can_be_read(pidfd)) who.started = 0;
  ::close(pidfd);
  return who;
}

}  // namespace nigh::platform
