// SPDX-License-Identifier: Apache-2.0
#pragma once
// The server's sockets: which programs are let in, what they send, and what they are sent. Knows
// messages as bytes, users, and how much each may send; does not know what messages mean.
//
// A program's connection is its life: the kernel closes it, however the program ends.

#include <cstddef>
#include <cstdint>
#include <map>
#include <nigh/result.hpp>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "coordinator/protocol/message.hpp"
#include "coordinator/server/server_log.hpp"
#include "coordinator/server/traffic.hpp"
#include "platform/event_set.hpp"

namespace nigh::coordinator {

inline Time now_us() noexcept { return base::now_ns() / 1000; }

struct SocketOptions {
  int listener = -1;          // for messages; the sockets' from now on
  int metrics_listener = -1;  // for readers of numbers; owned, too; -1: none
  int signals = -1;           // readable when the server is to leave; -1: none
  bool any_user = false;      // otherwise the server's own user and root
  std::size_t connections = 16'384;
  // The most connections of a user; with `any_user`, also at most half of what the others leave, so
  // that the next user finds some.
  std::size_t connections_of_a_user = 16'384;
  std::size_t connections_for_each = 8;  // as long as there are any
  TrafficOptions traffic{};
};

class Sockets {
 public:
  static result<Sockets> open(SocketOptions const& options, ServerLog& log);
  ~Sockets();
  Sockets(Sockets&& from) noexcept;

  struct News {
    std::vector<Connection> readable;  // in this order
    bool has_new = false;              // connections wait for let_in_new()
    bool is_to_leave = false;
    bool has_other = false;  // the descriptor of add_other() is readable
  };
  News wait(std::optional<Time> timeout);
  // Call them after handling the readable ones, for one of these may leave and make room. The
  // second: readers of numbers that have come.
  std::vector<Connection> let_in_new();
  // One more descriptor to wait for.
  result<void> add_other(int descriptor);
  // When throttled connections may be read again.
  std::optional<Time> next_throttled() const { return traffic_.next_time(); }
  // These connections, a few at a time, so that others are read in between.
  std::vector<Connection> take_throttled(Time now);

  bool empty() const noexcept { return connected_.empty(); }
  bool has(Connection c) const { return connected_.contains(c); }
  Peer const& peer(Connection c) const { return connected_.at(c).peer; }

  // The size of one message; 0: there is none now. Nothing: the connection is over.
  std::optional<std::size_t> receive(Connection from, std::span<std::byte> into, Time now);
  // False: the program does not read what it is sent, or is over.
  bool send(Connection to, CoordinatorMessage const& message, int passed = -1);
  // For readers of numbers: how many bytes went out; 0: there is no room now. Nothing: the
  // connection is over.
  std::optional<std::size_t> send_some(Connection to, std::span<std::byte const> bytes);
  bool await_room(Connection to);
  void close(Connection connection);

 private:
  struct Connected {
    int socket = -1;
    bool is_awaited = true;  // by the event set; otherwise it is throttled (traffic.hpp)
    bool reads_metrics = false;
    Peer peer{};
  };

  Sockets(SocketOptions const& options, ServerLog& log, platform::EventSet events);
  // An accepted connection that is not let in has no name.
  struct Arrival {
    bool is_there = false;
    bool is_gone = false;  // by now
    std::optional<Connection> name{};
  };
  Arrival let_in(int listener, bool reads_metrics);
  bool is_room_for(unsigned user) const;
  void turn_away(int listener);
  bool await_again(Connection connection, Connected& connected, Time now);

  SocketOptions options_;
  ServerLog* log_;
  platform::EventSet events_;
  Traffic traffic_;
  std::map<Connection, Connected> connected_;
  std::map<unsigned, std::size_t> connections_of_;  // by user
  Connection last_connection_;
  bool has_new_program_ = false;
  bool has_new_reader_ = false;
  int spare_;  // a descriptor to turn programs away with
};

}  // namespace nigh::coordinator
