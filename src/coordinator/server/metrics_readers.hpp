// SPDX-License-Identifier: Apache-2.0
#pragma once
// The readers of the server's numbers, each with a connection of its own. Text beyond what the
// system takes at once is sent when there is room.

#include <map>
#include <string>
#include <vector>

#include "coordinator/server/sockets.hpp"

namespace nigh::coordinator {

class MetricsReaders {
 public:
  explicit MetricsReaders(Time patience_us) : patience_us_(patience_us) {}

  void come(Connection connection, Time now) { readers_.emplace(connection, Reader{{}, now}); }
  bool has(Connection connection) const { return readers_.contains(connection); }
  void leave(Connection connection) { readers_.erase(connection); }

  // Called when its socket is ready. False: the connection is over, or has all it asked for. The
  // clock is read after the numbers were written down, which may take longer than a reader may.
  template <class Numbers, class Clock>
  bool serve(Connection connection, Sockets& sockets, Numbers const& numbers, Clock const& now) {
    Reader& reader = readers_.at(connection);
    if (reader.unsent.empty()) {
      std::array<std::byte, 4096> request;  // not interpreted: the answer is always the same
      auto const size = sockets.receive(connection, request, now());
      if (!size || *size == 0) return false;
      reader.unsent = numbers();
    }
    auto const sent = sockets.send_some(connection, std::as_bytes(std::span(reader.unsent)));
    if (!sent) return false;
    if (*sent > 0) {
      reader.last_read = now();
      reader.unsent.erase(0, *sent);
    }
    return !reader.unsent.empty() && sockets.await_room(connection);
  }

  // Readers that ask for nothing, or take nothing, would keep the server from leaving.
  std::vector<Connection> slow(Time now) const {
    std::vector<Connection> slow;
    for (auto const& [connection, reader] : readers_)
      if (reader.last_read + patience_us_ < now) slow.push_back(connection);
    return slow;
  }

 private:
  struct Reader {
    std::string unsent{};
    Time last_read = 0;
  };
  Time patience_us_;
  std::map<Connection, Reader> readers_;
};

}  // namespace nigh::coordinator
