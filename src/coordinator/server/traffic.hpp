// SPDX-License-Identifier: Apache-2.0
#pragma once
// What users have at the server, and how fast it reads what they send.
//
// A connection whose program, or whose user, has sent too much is not read for a while: what it
// sends then stays in its socket, and when that is full, the program waits. Nothing is lost, and
// others are read meanwhile. Connections of one user are read in turn.

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coordinator/core/events.hpp"
#include "policy/token_bucket.hpp"
#include "policy/user_share.hpp"

namespace nigh::coordinator {

struct TrafficOptions {
  policy::Rate of_connection{100'000, 1'000};  // messages
  policy::Rate of_user{50'000, 2'000};
  bool limits_users = false;  // where there is but one, its programs are in nobody's way
  policy::UserLimit connections{};
  std::int64_t messages_to_come = 20;  // a program that comes is as much work as so many
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
      if (u.unread.empty()) users_later_.emplace(u.bucket.ready_at(now, options_.of_user), user);
      u.unread.push_back(connection);
      return false;
    }
    found->second.take(now, options_.of_connection);
    u.bucket.take(now, options_.of_user);
    return true;
  }

  // One connection that may be read again; some have gone by now.
  std::optional<Connection> next_to_read(Time now) {
    if (!later_.empty() && later_.begin()->first <= now)
      return later_.extract(later_.begin()).value().second;
    while (!users_later_.empty() && users_later_.begin()->first <= now) {
      auto const user = users_later_.extract(users_later_.begin()).value().second;
      User& u = users_[user];
      if (u.unread.empty()) continue;
      if (!u.bucket.may_take(now, options_.of_user)) {
        users_later_.emplace(u.bucket.ready_at(now, options_.of_user), user);
        continue;
      }
      auto const connection = u.unread.front();
      u.unread.pop_front();
      if (!u.unread.empty()) users_later_.emplace(now, user);
      return connection;
    }
    return std::nullopt;
  }
  std::optional<Time> next_time() const {
    std::optional<Time> next;
    if (!later_.empty()) next = later_.begin()->first;
    if (!users_later_.empty())
      next = std::min(next.value_or(users_later_.begin()->first), users_later_.begin()->first);
    return next;
  }

 private:
  static constexpr std::size_t few = 64;
  struct User {
    std::size_t connections = 0;
    policy::TokenBucket bucket;
    std::deque<Connection> unread{};  // in turn
  };
  void forget_who_has_left(Time now) {
    std::erase_if(users_, [&](auto const& u) {
      return u.second.connections == 0 && u.second.unread.empty() &&
             u.second.bucket.is_full(now, options_.of_user);
    });
  }

  TrafficOptions options_;
  std::unordered_map<unsigned, User> users_;
  std::unordered_map<Connection, policy::TokenBucket> buckets_;
  std::set<std::pair<Time, Connection>> later_;
  std::set<std::pair<Time, unsigned>> users_later_;
};

}  // namespace nigh::coordinator
