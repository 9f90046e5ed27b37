// SPDX-License-Identifier: Apache-2.0
#include "platform/own_socket.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "platform/local_socket.hpp"

namespace nigh::platform {
namespace {

// Of the calling thread. A signal handler that interrupts it waits for nothing.
constinit thread_local int inside = 0;

// Programs rarely look at descriptors beyond 1024; the kernel's table grows with the number.
int high_number() noexcept {
  constexpr rlim_t most = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > most) limit.rlim_cur = most;
  return static_cast<int>(limit.rlim_cur - limit.rlim_cur / 16);
}

}  // namespace

OwnSocket::~OwnSocket() { close_own(); }

int OwnSocket::own() const noexcept {
  struct stat what{};
  bool const is_own = number_ >= 0 && ::fstat(number_, &what) == 0 && what.st_dev == device_ &&
                      what.st_ino == inode_;
  return is_own ? number_ : -1;
}

int OwnSocket::number() const noexcept {
  int const seen = watched_.load(sync::relaxed);
  return seen < 0 ? -1 : seen;
}

void OwnSocket::close_own() noexcept {
  close_descriptor(own());
  number_ = none;
}

OwnSocket::Use::Use(OwnSocket& socket) noexcept : socket_(inside == 0 ? &socket : nullptr) {
  if (socket_ == nullptr) return;
  ++inside;
  socket_->lock_.share();
  number_ = socket_->own();
}

OwnSocket::Use::~Use() {
  if (socket_ == nullptr) return;
  socket_->lock_.unshare();
  --inside;
}

OwnSocket::Change::Change(OwnSocket& socket) noexcept : socket_(inside == 0 ? &socket : nullptr) {
  if (socket_ == nullptr) return;
  ++inside;
  socket_->lock_.take();
  socket_->owner_.store(::getpid(), sync::relaxed);
  socket_->watched_.store(any, sync::relaxed);
}

OwnSocket::Change::~Change() {
  if (socket_ == nullptr) return;
  socket_->watched_.store(socket_->number_, sync::relaxed);
  socket_->lock_.give();
  --inside;
}

int OwnSocket::Change::number() const noexcept { return socket_ == nullptr ? -1 : socket_->own(); }

void OwnSocket::Change::close() noexcept {
  if (socket_ != nullptr) socket_->close_own();
}

int OwnSocket::Change::open(char const* path) noexcept {
  if (socket_ == nullptr) return -EBUSY;
  socket_->close_own();
  int const low = connect_local(path);
  if (low < 0) return low;
  struct stat what{};
  if (::fstat(low, &what) != 0) return -errno;
  int const high = ::fcntl(low, F_DUPFD_CLOEXEC, high_number());
  if (high >= 0) close_descriptor(low);
  socket_->number_ = high >= 0 ? high : low;
  socket_->device_ = what.st_dev;
  socket_->inode_ = what.st_ino;
  return 0;
}

bool OwnSocket::begin_closing(unsigned first, unsigned last) noexcept {
  auto const is_among = [&](int number) {
    return number >= 0 && first <= static_cast<unsigned>(number) &&
           static_cast<unsigned>(number) <= last;
  };
  int const seen = watched_.load(sync::relaxed);
  if (seen != any && !is_among(seen)) return false;
  if (inside > 0 || owner_.load(sync::relaxed) != ::getpid()) return false;
  int const cancelled = Uncancelled::begin();
  ++inside;
  lock_.take();
  closer_cancelled_ = cancelled;
  if (!is_among(number_)) return true;
  // Ends the connection even if another process has a copy of it.
  if (int const mine = own(); mine >= 0) hang_up(mine);
  number_ = none;
  watched_.store(none, sync::relaxed);
  return true;
}

void OwnSocket::end_closing() noexcept {
  int const cancelled = closer_cancelled_;
  lock_.give();
  --inside;
  Uncancelled::end(cancelled);
}

void OwnSocket::drop() noexcept {
  lock_.reset();
  close_own();
  watched_.store(none, sync::relaxed);
}

}  // namespace nigh::platform
