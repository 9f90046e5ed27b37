// SPDX-License-Identifier: Apache-2.0
#pragma once
// The readers of the server's numbers, each with a connection of its own. Text beyond what the
// system takes at once is sent when there is room.
//
// Writing the numbers down costs as much as there are programs. So all readers get one text, which
// is at most a second old, and a user has few readers.

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coordinator/server/sockets.hpp"

namespace nigh::coordinator {

class MetricsReaders {
 public:
  static constexpr std::ptrdiff_t most_of_a_user = 4;
  static constexpr Time text_lasts_us = 1'000'000;

  explicit MetricsReaders(Time patience_us) : patience_us_(patience_us) {}

  // False: its user has enough readers.
  bool come(Connection connection, unsigned user, Time now) {
    auto const own = std::count_if(readers_.begin(), readers_.end(),
                                   [user](auto const& r) { return r.second.user == user; });
    if (own >= most_of_a_user) return false;
    readers_.emplace(connection, Reader{.user = user, .last_read = now});
    return true;
  }
  bool has(Connection connection) const { return readers_.contains(connection); }
  void leave(Connection connection) { readers_.erase(connection); }

  // Called when its socket is ready. False: the connection is over, or has all it asked for. The
  // clock is read after the numbers were written down, which may take longer than a reader may.
  template <class Numbers, class Clock>
  bool serve(Connection connection, Sockets& sockets, Numbers const& numbers, Clock const& now) {
    Reader& reader = readers_.at(connection);
    if (reader.text == nullptr) {
      std::array<std::byte, 4096> request;  // not interpreted: the answer is always the same
      auto const size = sockets.receive(connection, request, now());
      if (!size || *size == 0) return false;
      if (text_ == nullptr || text_at_ + text_lasts_us <= now()) {
        text_ = std::make_shared<std::string const>(numbers());
        text_at_ = now();
      }
      reader.text = text_;
    }
    auto const unsent = std::as_bytes(std::span(*reader.text)).subspan(reader.sent);
    auto const sent = sockets.send_some(connection, unsent);
    if (!sent) return false;
    if (*sent > 0) {
      reader.last_read = now();
      reader.sent += *sent;
    }
    return reader.sent < reader.text->size() && sockets.await_room(connection);
  }

  // Readers that ask for nothing, or take nothing, would keep the server from leaving. Forgets a
  // text that is too old for the next reader.
  std::vector<Connection> slow(Time now) {
    if (text_at_ + text_lasts_us <= now) text_.reset();
    std::vector<Connection> slow;
    for (auto const& [connection, reader] : readers_)
      if (reader.last_read + patience_us_ < now) slow.push_back(connection);
    return slow;
  }

 private:
  struct Reader {
    unsigned user = 0;
    std::shared_ptr<std::string const> text{};
    std::size_t sent = 0;
    Time last_read = 0;
  };
  Time patience_us_;
  std::map<Connection, Reader> readers_;
  std::shared_ptr<std::string const> text_;  // the newest
  Time text_at_ = 0;
};

}  // namespace nigh::coordinator
