// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/sockets.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "coordinator/protocol/codec.hpp"
#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "platform/program.hpp"

namespace nigh::coordinator {
namespace {

// Event names other than connections.
constexpr std::uint64_t new_program = 0, new_reader = 1, signal_came = 2, other_has_news = 3,
                        first_connection = 16;

TrafficOptions traffic_of(SocketOptions const& options) {
  auto traffic = options.traffic;
  traffic.limits_users = options.any_user;
  traffic.connections = {options.connections, options.connections_for_each};
  return traffic;
}

int send_refusal(int socket) {
  return platform::send_message(
      socket, encode(CoordinatorMessage{Refusal{0, Refusal::Reason::too_many_programs}}).bytes());
}

}  // namespace

result<Sockets> Sockets::open(SocketOptions const& options, ServerLog& log) {
  auto events = platform::EventSet::make();
  if (!events) return events.to_error();
  Sockets sockets(options, log, std::move(events).value());
  std::pair<int, std::uint64_t> const first[] = {{options.listener, new_program},
                                                 {options.metrics_listener, new_reader},
                                                 {options.signals, signal_came}};
  for (auto const& [descriptor, name] : first) {
    if (descriptor < 0 && name != new_program) continue;
    if (auto const added = sockets.events_.add(descriptor, name); !added) return added.to_error();
  }
  return sockets;
}

Sockets::Sockets(SocketOptions const& options, ServerLog& log, platform::EventSet events)
    : options_(options),
      log_(&log),
      events_(std::move(events)),
      traffic_(traffic_of(options)),
      last_connection_(first_connection),
      spare_(platform::duplicate_descriptor(options.listener)) {}

Sockets::Sockets(Sockets&& from) noexcept
    : options_(std::exchange(from.options_, {})),
      log_(from.log_),
      events_(std::move(from.events_)),
      traffic_(std::move(from.traffic_)),
      connected_(std::exchange(from.connected_, {})),
      connections_of_(std::exchange(from.connections_of_, {})),
      last_connection_(from.last_connection_),
      spare_(std::exchange(from.spare_, -1)) {}

Sockets::~Sockets() {
  for (auto const& [connection, connected] : connected_)
    platform::close_descriptor(connected.socket);
  platform::close_descriptor(spare_);
  platform::close_descriptor(options_.listener);
  platform::close_descriptor(options_.metrics_listener);
}

result<void> Sockets::add_other(int descriptor) { return events_.add(descriptor, other_has_news); }

Sockets::News Sockets::wait(std::optional<Time> timeout) {
  News news;
  for (auto const name : events_.wait(timeout)) {
    if (name == new_program)
      has_new_program_ = true;
    else if (name == new_reader)
      has_new_reader_ = true;
    else if (name == signal_came)
      news.is_to_leave = true;
    else if (name == other_has_news)
      news.has_other = true;
    else
      news.readable.push_back(name);
  }
  news.has_new = has_new_program_ || has_new_reader_;
  return news;
}

// Many programs at once: otherwise those of a user that connects all the time would keep others
// from a place among the connections that wait. More of those that have left, which cost little.
std::vector<Connection> Sockets::let_in_new() {
  constexpr int most_at_once = 64, most_gone = 256;
  std::vector<Connection> readers;
  if (std::exchange(has_new_program_, false))
    for (int there = 0, gone = 0; there < most_at_once && gone < most_gone;) {
      auto const arrival = let_in(options_.listener, false);
      if (!arrival.is_there) break;
      ++(arrival.is_gone ? gone : there);
    }
  if (std::exchange(has_new_reader_, false))
    if (auto const reader = let_in(options_.metrics_listener, true).name)
      readers.push_back(*reader);
  return readers;
}

Sockets::Arrival Sockets::let_in(int listener, bool reads_metrics) {
  int const socket = platform::accept_local(listener);
  if (socket == -EAGAIN) return {};
  if (socket == -EMFILE || socket == -ENFILE) {
    turn_away(listener);
    return {};
  }
  Connected connected{.socket = socket, .reads_metrics = reads_metrics};
  if (socket < 0) {
    log_->warn_once("cannot let a program in: " + std::string(std::strerror(-socket)));
    return {};
  }
  if (!reads_metrics && platform::has_hung_up(socket)) {
    platform::close_descriptor(socket);
    return {.is_there = true, .is_gone = true};
  }
  auto const peer = platform::peer_of(socket);
  if (peer) connected.peer = {.user = peer->user, .pid = peer->pid};
  auto const user = connected.peer.user;
  bool const is_allowed = peer && (options_.any_user || user == platform::own_user() || user == 0);
  if (!is_allowed || !is_room_for(user)) {
    log_->warn_once(is_allowed ? "too many connections" : "another user's program", connected.peer);
    if (is_allowed && !reads_metrics) send_refusal(socket);
    platform::close_descriptor(socket);
    return {.is_there = true};
  }
  connected.peer.process = platform::identity_of_peer(socket, peer->pid);
  auto const connection = ++last_connection_;
  if (auto const added = events_.add(socket, connection); !added) {
    log_->warn_once("cannot listen to a program: " + added.message(), connected.peer);
    platform::close_descriptor(socket);
    return {.is_there = true};
  }
  ++connections_of_[user];
  traffic_.come(user, connection, now_us());
  connected_.emplace(connection, std::move(connected));
  return {.is_there = true, .name = connection};
}

bool Sockets::is_room_for(unsigned user) const {
  auto const found = connections_of_.find(user);
  auto const own = found == connections_of_.end() ? 0 : found->second;
  return own < options_.connections_of_a_user && traffic_.has_room_for(user, connected_.size());
}

// No descriptors are left. A program that comes is told so with the descriptor kept for this:
// otherwise it would wait for an answer, and the server would be woken for it again and again.
void Sockets::turn_away(int listener) {
  log_->warn_once("has no descriptors left for more programs");
  platform::close_descriptor(spare_);
  int const socket = platform::accept_local(listener);
  if (socket >= 0) send_refusal(socket);
  platform::close_descriptor(socket);
  spare_ = platform::duplicate_descriptor(listener);
}

std::vector<Connection> Sockets::take_throttled(Time now) {
  constexpr std::size_t most_at_once = 64;
  std::vector<Connection> some;
  while (some.size() < most_at_once) {
    auto const connection = traffic_.next_to_read(now);
    if (!connection) break;
    if (has(*connection)) some.push_back(*connection);
  }
  return some;
}

// One message: events report further ones again, after those of other connections; checking for
// more here would take as long.
std::optional<std::size_t> Sockets::receive(Connection from, std::span<std::byte> into, Time now) {
  Connected& connected = connected_.at(from);
  auto const user = connected.peer.user;
  bool const is_limited = !connected.reads_metrics;
  if (is_limited && !traffic_.may_read(user, from, now)) {
    if (std::exchange(connected.is_awaited, false)) events_.remove(connected.socket);
    return 0;
  }
  int const size = platform::receive_bytes(connected.socket, into);
  if (size == -EAGAIN) return await_again(from, connected, now) ? std::optional(0U) : std::nullopt;
  if (size <= 0) return std::nullopt;
  if (!connected.is_awaited) traffic_.read_again(user, from, now);
  return static_cast<std::size_t>(size);
}

// A throttled connection from which all has been read is throttled no more. False: it is over.
bool Sockets::await_again(Connection connection, Connected& connected, Time now) {
  if (connected.is_awaited) return true;
  traffic_.had_nothing(connected.peer.user, connection, now);
  auto const added = events_.add(connected.socket, connection);
  connected.is_awaited = static_cast<bool>(added);
  if (!added) log_->warn_once("cannot listen to a program: " + added.message(), connected.peer);
  return connected.is_awaited;
}

bool Sockets::send(Connection to, CoordinatorMessage const& message, int passed) {
  auto const found = connected_.find(to);
  if (found == connected_.end()) return false;
  if (platform::send_message(found->second.socket, encode(message).bytes(), passed) == 0)
    return true;
  log_->warn_once("does not read its answers", found->second.peer);
  return false;
}

std::optional<std::size_t> Sockets::send_some(Connection to, std::span<std::byte const> bytes) {
  int const sent = platform::send_bytes(connected_.at(to).socket, bytes);
  if (sent == -EAGAIN) return 0;
  if (sent <= 0) return std::nullopt;
  return static_cast<std::size_t>(sent);
}

bool Sockets::await_room(Connection to) {
  return static_cast<bool>(events_.await_room(connected_.at(to).socket, to));
}

void Sockets::close(Connection connection) {
  auto const found = connected_.find(connection);
  if (found == connected_.end()) return;
  auto const& connected = found->second;
  if (connected.is_awaited) events_.remove(connected.socket);
  traffic_.leave(connected.peer.user, connection);
  platform::close_descriptor(connected.socket);
  if (auto const user = connections_of_.find(connected.peer.user); --user->second == 0)
    connections_of_.erase(user);
  connected_.erase(found);
}

}  // namespace nigh::coordinator
