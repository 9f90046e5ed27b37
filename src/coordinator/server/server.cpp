// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/server.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "coordinator/server/metrics.hpp"
#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "platform/program.hpp"
#include "platform/shared_memory.hpp"

namespace nigh::coordinator {
namespace {

// Names of events that are no connection.
constexpr std::uint64_t new_program = 0, new_reader = 1, signal_came = 2, memory_has_news = 3,
                        first_connection = 16;
constexpr Time recalled_within_us = 500'000;  // programs wait for it before their first region
constexpr int warnings_of_a_kind = 1;

using Level = ServerOptions::Level;

TrafficOptions traffic_of(ServerOptions const& options) {
  auto traffic = options.traffic;
  traffic.limits_users = options.any_user;
  traffic.connections = {options.connections, options.connections_for_each};
  return traffic;
}

Time now_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

// As fields of a line in the log.
std::string versions(std::span<std::byte const> message) {
  return " version=" + std::to_string(version_in(message)) +
         " own_version=" + std::to_string(protocol_version);
}

}  // namespace

result<std::unique_ptr<Server>> Server::start(policy::CoreMap machine, ServerOptions options) {
  auto events = platform::EventSet::make();
  if (!events) return events.to_error();
  std::unique_ptr<Server> server(
      new Server(std::move(machine), std::move(options), std::move(events).value()));
  auto const& o = server->options_;
  if (auto const added = server->events_.add(o.listener, new_program); !added)
    return added.to_error();
  if (o.metrics_listener >= 0)
    if (auto const added = server->events_.add(o.metrics_listener, new_reader); !added)
      return added.to_error();
  if (o.signals >= 0)
    if (auto const added = server->events_.add(o.signals, signal_came); !added)
      return added.to_error();
  if (auto const added = server->events_.add(server->memory_.descriptor(), memory_has_news); !added)
    return added.to_error();
  return server;
}

Server::Server(policy::CoreMap machine, ServerOptions options, platform::EventSet events)
    : options_(std::move(options)),
      core_(std::move(machine), options_.core, now_us()),
      events_(std::move(events)),
      traffic_(traffic_of(options_)),
      last_connection_(first_connection),
      nobody_since_(now_us()),
      own_place_(options_.own_cpus),
      energy_(options_.energy_root),
      spare_(platform::duplicate_descriptor(options_.listener)),
      memory_(options_.keeper,
              options_.any_user ? RegionMemory::shared_by_users : RegionMemory::of_one_user),
      next_memory_(now_us() + options_.remember_every_us) {
  look_at_energy(false);
}

Server::~Server() {
  for (auto& [connection, member] : members_) {
    platform::close_descriptor(member.socket);
    platform::close_descriptor(member.memory);
    platform::unmap_shared(member.page, sizeof(LeasePage));
  }
  platform::close_descriptor(spare_);
  platform::close_descriptor(options_.listener);
  platform::close_descriptor(options_.metrics_listener);
}

void Server::run() {
  while (once()) {
  }
  remember_all();
}

// Of what may happen by itself, the first.
std::optional<Time> Server::until_next(Time now) const {
  std::optional<Time> next = core_.next_tick();
  auto const at = [&](Time t) { next = std::min(next.value_or(t), t); };
  if (options_.idle_exit_us && members_.empty()) at(nobody_since_ + *options_.idle_exit_us);
  if (!members_.empty()) at(next_look_);
  if (core_.programs() > 0) at(next_memory_);
  if (!waiting_.empty()) at(waiting_.front().first);
  if (auto const due = moves_.due()) at(*due);
  if (auto const time = traffic_.next_time()) at(*time);
  if (!next) return std::nullopt;
  return std::max<Time>(0, *next - now);
}

// Waits for something and does it. False when it is time to leave.
bool Server::once() {
  auto const names = events_.wait(until_next(now_us()));
  for (auto const name : names) {
    if (name == new_program)
      let_in(options_.listener, false);
    else if (name == new_reader)
      let_in(options_.metrics_listener, true);
    else if (name == signal_came)
      return false;
    else if (name == memory_has_news)
      hear_memory();
    else
      hear(name);
  }
  hear_throttled();
  auto const now = now_us();
  if (auto const due = core_.next_tick(); due && *due <= now) happen(Tick{});
  if (!members_.empty() && next_look_ <= now) look_around(now);
  if (next_memory_ <= now) {
    next_memory_ = now + options_.remember_every_us;
    remember_all();
  }
  send_overdue_welcomes(now);
  say_how_many_moved(now);
  own_place_.settle(now);
  return !options_.idle_exit_us || !members_.empty() ||
         now < nobody_since_ + *options_.idle_exit_us;
}

void Server::let_in(int listener, bool reads_metrics) {
  int const socket = platform::accept_local(listener);
  if (socket == -EAGAIN) return;
  if (socket == -EMFILE || socket == -ENFILE) return turn_away(listener);
  Member member;
  member.socket = socket;
  member.reads_metrics = reads_metrics;
  member.last_read = now_us();
  if (socket < 0)
    return warn_once("cannot let a program in: " + std::string(std::strerror(-socket)), member);
  auto const peer = platform::peer_of(socket);
  if (peer) {
    member.user = peer->user, member.pid = peer->pid;
    member.process = platform::identity_of_peer(socket, peer->pid);
  }
  bool const is_allowed =
      peer && (options_.any_user || peer->user == platform::own_user() || peer->user == 0);
  bool const is_room = traffic_.has_room_for(member.user, members_.size()) &&
                       connections_of_[member.user] < options_.connections_of_a_user;
  if (!is_allowed || !is_room) {
    warn_once(is_allowed ? "too many connections" : "another user's program", member);
    if (is_allowed && !reads_metrics)
      platform::send_message(
          socket,
          encode(CoordinatorMessage{Refusal{0, Refusal::Reason::too_many_programs}}).bytes());
    return platform::close_descriptor(socket);
  }
  auto const connection = ++last_connection_;
  if (auto const added = events_.add(socket, connection); !added) {
    warn_once("cannot listen to a program: " + added.message(), member);
    return platform::close_descriptor(socket);
  }
  ++connections_of_[member.user];
  traffic_.come(member.user, connection, now_us());
  members_.emplace(connection, std::move(member));
}

// There are no descriptors left. Whoever comes is told so, with the one kept for this: otherwise it
// would wait for an answer, and we be woken for it again and again.
void Server::turn_away(int listener) {
  warn_once("has no descriptors left for more programs", {});
  platform::close_descriptor(spare_);
  int const socket = platform::accept_local(listener);
  if (socket >= 0)
    platform::send_message(
        socket, encode(CoordinatorMessage{Refusal{0, Refusal::Reason::too_many_programs}}).bytes());
  platform::close_descriptor(socket);
  spare_ = platform::duplicate_descriptor(listener);
}

// One message: of more the events tell again, after those of others, and to look whether there are
// more would take as long.
void Server::hear(Connection from) {
  auto const found = members_.find(from);
  if (found == members_.end()) return;
  Member& member = found->second;
  if (member.reads_metrics) return answer_metrics(from, member);
  if (!traffic_.may_read(member.user, from, now_us())) {
    if (std::exchange(member.is_read, false)) events_.remove(member.socket);
    return;
  }
  std::array<std::byte, largest_message + 1> bytes;
  int const size = platform::receive_bytes(member.socket, bytes);
  if (size == -EAGAIN) return listen_again(from, member);
  if (size <= 0) return close(from);
  if (!member.is_read) traffic_.read_again(member.user, from, now_us());
  auto const whole = std::min(static_cast<std::size_t>(size), bytes.size());
  auto decoded = decode_from_program({bytes.data(), whole});
  if (auto const* const wrong = std::get_if<DecodeError>(&decoded)) {
    warn_once("sends what is " + std::string(to_string(*wrong)), member,
              *wrong == DecodeError::foreign_version ? versions({bytes.data(), whole}) : "");
    send(from, member,
         Refusal{0, *wrong == DecodeError::foreign_version ? Refusal::Reason::foreign_version
                                                           : Refusal::Reason::malformed});
    return close(from);
  }
  auto& message = std::get<ProgramMessage>(decoded);
  if (auto* const about = std::get_if<Register>(&message)) {
    about->pid = static_cast<std::uint32_t>(member.pid);
    member.listens = about->listens != 0;
    auto const file = member.process.look([&] { return platform::program_of(member.pid); });
    if (member.page == nullptr)
      member.program = {.name = std::string(about->name.view()),
                        .path = file ? file->string() : "",
                        .binary = about->binary,
                        .user = member.user,
                        .process = file ? member.process : platform::ProcessIdentity{}};
  }
  if (auto const* const query = std::get_if<Query>(&message))
    return answer_query(from, member, *query);
  if (auto const* const release = std::get_if<Release>(&message))
    member.leases.erase(release->lease);
  if (auto const* const request = std::get_if<Request>(&message)) {
    member.leases.erase(request->returned);
    note_place(from, member, *request);
    look_for_library(from, member, request->region);
  } else {
    own_place_.hear(from);
    if (auto const* const report = std::get_if<Report>(&message))
      look_for_library(from, member, report->region);
  }
  happen(Event{std::in_place_type<Received>, from, message, member.user});
}

// A few of the throttled ones, so that those who are not throttled are read in between.
void Server::hear_throttled() {
  constexpr int most_at_once = 64;
  auto const now = now_us();
  for (int n = 0; n < most_at_once; ++n) {
    auto const connection = traffic_.next_to_read(now);
    if (!connection) return;
    hear(*connection);
  }
}

// A throttled connection from which all has been read is throttled no more.
void Server::listen_again(Connection connection, Member& member) {
  if (member.is_read) return;
  traffic_.had_nothing(member.user, connection, now_us());
  if (auto const added = events_.add(member.socket, connection); !added) {
    warn_once("cannot listen to a program: " + added.message(), member);
    return close(connection);
  }
  member.is_read = true;
}

// All that it hears, until it begins again, is of the moment of its first question.
void Server::answer_query(Connection to, Member& member, Query const& query) {
  own_place_.hear(to);
  auto const take = [this] {
    happen(Tick{});
    return core_.statuses();
  };
  auto const user = member.user;
  auto const status = snapshots_.answer(to, user, query.program, now_us(), take);
  // It may be gone by what was to happen anyway.
  auto const found = members_.find(to);
  if (found == members_.end()) return snapshots_.forget(to, user);
  send(to, found->second, status);
}

void Server::note_place(Connection from, Member const& member, Request const& request) {
  bool const is_awake = member.page != nullptr &&
                        member.page->answer_to(request.ticket).word.is_awaited(request.ticket);
  int const cpu =
      request.place == unknown_place ? OwnPlace::anywhere : static_cast<int>(request.place);
  own_place_.ask(from, cpu, !is_awake, now_us());
}

// More than the system takes at once is sent when there is room.
void Server::answer_metrics(Connection to, Member& member) {
  own_place_.hear(to);
  if (member.unread.empty()) {
    std::array<std::byte, 4096> request;  // whatever it says, the answer is the same
    if (platform::receive_bytes(member.socket, request) <= 0) return close(to);
    member.unread = metrics_answer(core_, now_us());
  }
  int const sent = platform::send_bytes(member.socket, std::as_bytes(std::span(member.unread)));
  if (sent <= 0 && sent != -EAGAIN) return close(to);
  if (sent > 0) {
    member.last_read = now_us();
    member.unread.erase(0, static_cast<std::size_t>(sent));
  }
  if (member.unread.empty() || !events_.await_room(member.socket, to)) close(to);
}

// Who asks for nothing, or takes nothing, would keep us from leaving.
void Server::close_slow_readers(Time now) {
  std::vector<Connection> slow;
  for (auto const& [connection, member] : members_)
    if (member.reads_metrics && member.last_read + options_.readers_within_us < now)
      slow.push_back(connection);
  for (auto const connection : slow) close(connection);
}

void Server::close(Connection connection) {
  auto const found = members_.find(connection);
  if (found == members_.end()) return;
  own_place_.leave();
  Member member = std::move(found->second);
  members_.erase(found);
  remember(connection, member);
  if (member.is_read) events_.remove(member.socket);
  traffic_.leave(member.user, connection);
  platform::close_descriptor(member.socket);
  platform::close_descriptor(member.memory);
  if (member.page != nullptr)
    for (auto& line : member.page->lines) line.word.close();
  platform::unmap_shared(member.page, sizeof(LeasePage));
  if (auto const user = connections_of_.find(member.user); --user->second == 0)
    connections_of_.erase(user);
  snapshots_.forget(connection, member.user);
  if (member.page != nullptr) {
    say_who_moves("program left", member);
    --programs_;
    note_how_many();
  }
  if (members_.empty()) nobody_since_ = now_us();
  happen(Lost{connection});
}

// What follows from it, too, one after the other: carrying out what the core says makes new events.
// Events are large, so that the first one stays where it is.
void Server::happen(Event const& event) {
  if (is_happening_) return to_happen_.push_back(event);
  is_happening_ = true;
  carry_out_all(core_.step(event, now_us()));
  for (; !to_happen_.empty(); to_happen_.pop_front())
    carry_out_all(core_.step(to_happen_.front(), now_us()));
  is_happening_ = false;
}

void Server::carry_out_all(std::vector<Send> const& what) {
  for (auto const& one : what) carry_out(one);
}

void Server::carry_out(Send const& what) {
  auto const found = members_.find(what.to);
  if (found == members_.end()) return;  // it has left since
  Member& member = found->second;
  if (auto const* const message = std::get_if<Welcome>(&what.message))
    return welcome(what.to, member, *message);
  if (auto const* const message = std::get_if<Revoke>(&what.message))
    return take_back(what.to, member, *message);
  if (auto const* const advice = std::get_if<Advice>(&what.message))
    return member.page->regions.set(*advice);
  if (auto const* const grant = std::get_if<Grant>(&what.message)) {
    member.leases[grant->lease] = grant->ticket;
    member.page->at(grant->ticket).grant(grant->lease);
    if (member.page->answer_to(grant->ticket).put(*grant)) return;
  }
  if (auto const* const unplaced = std::get_if<Unplaced>(&what.message))
    if (member.page->answer_to(unplaced->ticket).put(*unplaced)) return;
  send(what.to, member, what.message);
}

void Server::welcome(Connection to, Member& member, Welcome const& message) {
  int const memory = platform::make_shared_memory(sizeof(LeasePage));
  void* const page = memory < 0 ? nullptr : platform::map_shared(memory, sizeof(LeasePage));
  if (page == nullptr) {
    warn_once(memory < 0 ? std::string("there is no memory to share with programs: ") +
                               std::strerror(-memory)
                         : "there is no memory to share with programs",
              member);
    platform::close_descriptor(memory);
    return close(to);
  }
  member.page = static_cast<LeasePage*>(page);
  say_who_moves("program came", member);
  ++programs_;
  note_how_many();
  platform::CgroupReader reader(options_.cgroup_root);
  look_at_cgroups(to, member, reader);
  member.welcome = message;
  member.memory = memory;
  member.is_recalled = !memory_.recall(to, member.program);
  if (member.is_recalled) return send_welcome(to, member);
  waiting_.emplace_back(now_us() + recalled_within_us, to);
}

// Of many programs, one more or less is told later, to all at once.
void Server::note_how_many() {
  knows_how_many_ = false;
  if (programs_ <= many_programs) tell_how_many();
}

void Server::tell_how_many() {
  if (std::exchange(knows_how_many_, true)) return;
  for (auto const& [_, member] : members_)
    if (member.page != nullptr)
      member.page->host.programs.store(static_cast<std::uint32_t>(programs_), sync::relaxed);
}

void Server::send_welcome_if_waiting(Connection to) {
  auto const found = members_.find(to);
  if (found != members_.end() && found->second.welcome) send_welcome(to, found->second);
}

void Server::send_welcome(Connection to, Member& member) {
  auto const message = *std::exchange(member.welcome, std::nullopt);
  int const memory = std::exchange(member.memory, -1);
  send(to, member, message, memory);
  platform::close_descriptor(memory);
}

// What takes longer to recall, they hear of later.
void Server::send_overdue_welcomes(Time now) {
  for (; !waiting_.empty() && waiting_.front().first <= now; waiting_.pop_front())
    send_welcome_if_waiting(waiting_.front().second);
}

void Server::take_back(Connection from, Member& member, Revoke const& message) {
  auto const lease = member.leases.find(message.lease);
  if (lease == member.leases.end()) return;
  LeaseWord& word = member.page->at(lease->second);
  if (message.reason == Revoke::Reason::ended) {
    warn_once("did not give cpus back that others waited for", member);
    word.end(message.lease);
    member.leases.erase(lease);
    if (member.listens) send(from, member, message);
    return;
  }
  bool const is_asked = is_for_good(message.reason);
  bool is_taken = false;
  if (is_asked)
    is_taken = word.take_back(message.lease) == LeaseWord::Found::taken;
  else if (message.reason == Revoke::Reason::if_idle)
    is_taken = word.take_idle(message.lease);
  else
    is_taken = word.take_rested(message.lease);
  if (is_taken) {
    member.leases.erase(lease);
    happen(Received{from, Release{message.lease}});
  } else if (is_asked && member.listens) {
    send(from, member, message);
  }
}

void Server::send(Connection to, Member& member, CoordinatorMessage const& message, int passed) {
  if (platform::send_message(member.socket, encode(message).bytes(), passed) == 0) return;
  warn_once("does not read its answers", member);
  close(to);
}

// Programs that come and leave a thousand times a second are as good as one line.
void Server::say_who_moves(std::string_view what, Member const& whom) {
  auto const now = now_us();
  say_how_many_moved(now);
  if (moves_.may_say(now)) say(Level::info, what, whom);
}

void Server::say_how_many_moved(Time now) {
  if (auto const due = moves_.due(); !due || *due > now) return;
  auto const moves = moves_.take_unsaid();
  if (options_.log)
    options_.log(Level::info, "more programs came or left", "times=" + std::to_string(moves));
}

void Server::say(Level level, std::string_view what, Member const& whom, std::string_view more) {
  if (!options_.log) return;
  auto const who = "pid=" + std::to_string(whom.pid) + " user=" + std::to_string(whom.user);
  options_.log(level, what, who + std::string(more));
}

void Server::warn_once(std::string_view what, Member const& whom, std::string_view more) {
  auto known = warned_.find(what);
  if (known == warned_.end() && warned_.size() < 64) known = warned_.emplace(what, 0).first;
  if (known == warned_.end() || ++known->second > warnings_of_a_kind) return;
  say(Level::warning, what, whom, more);
}

}  // namespace nigh::coordinator
