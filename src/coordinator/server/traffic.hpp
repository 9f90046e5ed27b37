// SPDX-License-Identifier: Apache-2.0
#pragma once
// The connections that users have at the server, and how fast it reads them.
//
// A connection whose program, or whose user, has sent too much is not read for a while: its
// messages stay in its socket, and when that is full, the program waits. Nothing is lost, and
// others are read meanwhile. Such a connection is throttled: until it has nothing more to read, it
// is read one message at a time when next_to_read() names it, users in round robin, and connections
// of a user in round robin. So a user with thousands of connections delays others by one message
// each.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coordinator/core/events.hpp"
#include "policy/cpus/user_share.hpp"

namespace nigh::coordinator {

struct TrafficOptions {
  policy::Rate of_connection{100'000, 1'000};  // messages
  policy::Rate of_user{50'000, 2'000};
  bool limits_users = false;  // a single user's programs are in nobody's way
  policy::UserLimit connections{};
  std::int64_t messages_to_come = 20;  // a new program is as much work as so many messages
};

class Traffic {
 public:
  explicit Traffic(TrafficOptions options) : options_(options) {}

  bool has_room_for(unsigned user, std::size_t connections) const {
    auto const found = users_.find(user);
    auto const own = found == users_.end() ? 0 : found->second.connections;
    return options_.limits_users ? policy::may_have_one_more(own, connections, options_.connections)
                                 : connections < options_.connections.all;
  }
  void come(unsigned user, Connection connection, Time now) {
    if (users_.size() >= few) forget_who_has_left(now);
    User& u = users_[user];
    ++u.connections;
    u.bucket.take(now, options_.of_user, options_.messages_to_come);
    buckets_[connection];
  }
  void leave(unsigned user, Connection connection) {
    buckets_.erase(connection);
    if (auto const found = users_.find(user); found != users_.end()) --found->second.connections;
  }

  // Whether one message may be read now. If not, the connection is remembered.
  bool may_read(unsigned user, Connection connection, Time now) {
    auto const found = buckets_.find(connection);
    if (found == buckets_.end()) return true;
    if (!found->second.may_take(now, options_.of_connection)) {
      later_.emplace(found->second.ready_at(now, options_.of_connection), connection);
      return false;
    }
    User& u = users_[user];
    if (options_.limits_users && !u.bucket.may_take(now, options_.of_user)) {
      u.throttled.push_back(connection);
      call(u, user, u.bucket.ready_at(now, options_.of_user));
      return false;
    }
    found->second.take(now, options_.of_connection);
    u.bucket.take(now, options_.of_user);
    return true;
  }

  // A throttled connection had a message, and may have more.
  void read_again(unsigned user, Connection connection, Time now) {
    User& u = users_[user];
    u.throttled.push_back(connection);
    call(u, user, now);
  }
  // It had none after all.
  void had_nothing(unsigned user, Connection connection, Time now) {
    if (auto const found = buckets_.find(connection); found != buckets_.end())
      found->second.take(now, options_.of_connection, -1);
    users_[user].bucket.take(now, options_.of_user, -1);
  }

  // One throttled connection that may be read again; some are gone by now.
  std::optional<Connection> next_to_read(Time now) {
    if (!later_.empty() && later_.begin()->first <= now)
      return later_.extract(later_.begin()).value().second;
    while (!users_later_.empty() && std::get<Time>(*users_later_.begin()) <= now) {
      auto const user = std::get<unsigned>(users_later_.extract(users_later_.begin()).value());
      User& u = users_[user];
      u.is_called = false;
      if (u.throttled.empty()) continue;
      if (options_.limits_users && !u.bucket.may_take(now, options_.of_user)) {
        call(u, user, u.bucket.ready_at(now, options_.of_user));
        continue;
      }
      auto const connection = u.throttled.front();
      u.throttled.pop_front();
      if (!u.throttled.empty()) call(u, user, now);
      return connection;
    }
    return std::nullopt;
  }
  std::optional<Time> next_time() const {
    std::optional<Time> next;
    if (!later_.empty()) next = later_.begin()->first;
    if (!users_later_.empty())
      next = std::min(next.value_or(std::get<Time>(*users_later_.begin())),
                      std::get<Time>(*users_later_.begin()));
    return next;
  }

 private:
  static constexpr std::size_t few = 64;
  struct User {
    std::size_t connections = 0;
    policy::TokenBucket bucket;
    std::deque<Connection> throttled{};  // the next one to read first
    bool is_called = false;              // in users_later_
  };
  // Among users that may be read at the same time, the one called first comes first.
  void call(User& u, unsigned user, Time at) {
    if (!std::exchange(u.is_called, true)) users_later_.emplace(at, ++calls_, user);
  }
  void forget_who_has_left(Time now) {
    std::erase_if(users_, [&](auto const& u) {
      return u.second.connections == 0 && u.second.throttled.empty() &&
             u.second.bucket.is_full(now, options_.of_user);
    });
  }

  TrafficOptions options_;
  std::unordered_map<unsigned, User> users_;
  std::unordered_map<Connection, policy::TokenBucket> buckets_;
  std::set<std::pair<Time, Connection>> later_;
  std::set<std::tuple<Time, std::uint64_t, unsigned>> users_later_;  // with the number of the call
  std::uint64_t calls_ = 0;
};

}  // namespace nigh::coordinator
