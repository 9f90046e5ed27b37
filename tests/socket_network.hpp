// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network of processes of one host, one socket for each two, that lets ranks go on when another is
// lost: its sockets end.

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <utility>
#include <vector>

#include "cluster/transport.hpp"

namespace nigh::tests {

class SocketNetwork : public cluster::Transport {
 public:
  struct Pair {
    int low = 0, high = 0;  // ranks
    int of_low = -1, of_high = -1;
  };
  static std::vector<Pair> pairs(int ranks) {
    std::vector<Pair> all;
    for (int high = 1; high < ranks; ++high)
      for (int low = 0; low < high; ++low) {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()) != 0) std::abort();
        all.push_back({low, high, ends[0], ends[1]});
      }
    return all;
  }
  static void close(Pair const& pair) {
    ::close(pair.of_low);
    ::close(pair.of_high);
  }

  // Closes the ends of all others.
  SocketNetwork(std::vector<Pair> const& pairs, int rank, int ranks)
      : rank_(rank), peers_(static_cast<std::size_t>(ranks)) {
    for (auto const& p : pairs) {
      bool const is_low = p.low == rank, is_high = p.high == rank;
      if (is_low) peer(p.high).socket = p.of_low;
      if (is_high) peer(p.low).socket = p.of_high;
      if (!is_low) ::close(p.of_low);
      if (!is_high) ::close(p.of_high);
    }
  }
  ~SocketNetwork() override {
    for (auto& p : peers_)
      if (p.socket >= 0) ::close(p.socket);
  }

  int rank() const noexcept override { return rank_; }
  int ranks() const noexcept override { return static_cast<int>(peers_.size()); }
  std::string name() const override { return "sockets"; }
  bool is_funneled() const noexcept override { return false; }
  bool survivors_go_on() const noexcept override { return true; }
  std::vector<int> lost() override { return std::exchange(lost_, {}); }

  void leave(int rank) override {
    flush(rank);
    peer(rank).is_lost = true;
    peer(rank).waiting.clear();
  }

  void send(int to, cluster::byte_view message) override {
    push(to, message, Says::message);
  }

  Arrived receive() override {
    for (int i = 0; i < ranks(); ++i) {
      next_ = (next_ + 1) % ranks();
      if (next_ == rank_) continue;
      flush(next_);
      if (read(next_, MSG_DONTWAIT)) return {next_, got_};
    }
    return {};
  }

  std::vector<cluster::bytes> gather(cluster::byte_view mine) override {
    std::vector<cluster::bytes> all(peers_.size());
    for (int r = 0; r < ranks(); ++r)
      if (r != rank_) send(r, mine);
    for (int r = 0; r < ranks(); ++r)
      if (r == rank_)
        all[static_cast<std::size_t>(r)].assign(mine.begin(), mine.end());
      else if (read(r, 0))
        all[static_cast<std::size_t>(r)].assign(got_.begin(), got_.end());
    return all;
  }

  // Nobody closes a socket that another may read from.
  void finish() override {
    for (int r = 0; r < ranks(); ++r)
      if (r != rank_) push(r, {}, Says::leaves);
    for (int r = 0; r < ranks(); ++r) {
      if (r == rank_) continue;
      while (!peer(r).waiting.empty()) flush(r);
      while (!peer(r).is_lost && !peer(r).has_left) read(r, 0);
    }
  }

 private:
  // The last byte of what goes through a socket.
  enum class Says : std::uint8_t { message, leaves };
  struct Peer {
    int socket = -1;
    bool is_lost = false;
    bool is_closed = false;  // nothing reaches it; what it sent before is read to its end
    bool has_left = false;  // it has said so
    std::deque<cluster::bytes> waiting;
  };
  Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  void push(int to, cluster::byte_view message, Says what) {
    if (peer(to).is_lost || peer(to).is_closed) return;
    auto& m = peer(to).waiting.emplace_back(message.begin(), message.end());
    m.push_back(std::byte(what));
    flush(to);
  }
  void flush(int to) {
    auto& p = peer(to);
    while (!p.is_lost && !p.is_closed && !p.waiting.empty()) {
      auto const& m = p.waiting.front();
      if (::send(p.socket, m.data(), m.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno == EAGAIN) return;
        p.is_closed = true;
        return p.waiting.clear();
      }
      p.waiting.pop_front();
    }
  }
  bool read(int from, int flags) {
    auto& p = peer(from);
    if (p.is_lost || p.has_left) return false;
    auto n = ::recv(p.socket, buffer_.data(), buffer_.size(), flags);
    if (n < 0 && errno == ECONNRESET)  // told once, before what has arrived
      n = ::recv(p.socket, buffer_.data(), buffer_.size(), flags);
    if (n > 0) {
      got_.assign(buffer_.begin(), buffer_.begin() + n - 1);
      p.has_left = buffer_[static_cast<std::size_t>(n) - 1] == std::byte(Says::leaves);
      return !p.has_left;
    }
    if (n == 0 || errno == ECONNRESET) lose(from);
    return false;
  }
  void lose(int rank) {
    peer(rank).is_lost = true;
    peer(rank).waiting.clear();
    lost_.push_back(rank);
  }

  int rank_;
  int next_ = 0;
  std::vector<Peer> peers_;
  std::vector<int> lost_;
  cluster::bytes buffer_ = cluster::bytes(std::size_t{1} << 18), got_;
};

}  // namespace nigh::tests
