// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/server.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/server/metrics.hpp"
#include "platform/cpu_times.hpp"
#include "platform/local_socket.hpp"
#include "platform/program.hpp"

namespace nigh::coordinator {
namespace {

constexpr Time look_every_us = 500'000;
constexpr Time second_look_us = 100'000;  // after the first one

}  // namespace

result<std::unique_ptr<Server>> Server::start(policy::CoreMap machine, ServerOptions options) {
  auto log = std::make_unique<ServerLog>(options.log);
  auto sockets = Sockets::open(options, *log);
  if (!sockets) return sockets.to_error();
  std::unique_ptr<Server> server(new Server(std::move(machine), std::move(options), std::move(log),
                                            std::move(sockets).value()));
  if (auto const added = server->sockets_.add_other(server->profiles_.descriptor()); !added)
    return added.to_error();
  return server;
}

Server::Server(policy::CoreMap machine, ServerOptions options, std::unique_ptr<ServerLog> log,
               Sockets sockets)
    : options_(std::move(options)),
      log_(std::move(log)),
      core_(std::move(machine), options_.core, now_us()),
      sockets_(std::move(sockets)),
      profiles_(options_.keeper,
                options_.any_user ? RegionMemory::shared_by_users : RegionMemory::of_one_user),
      readers_(options_.readers_within_us),
      own_place_(options_.own_cpus),
      energy_(options_.energy_root),
      cgroups_(options_.cgroup_root),
      nobody_since_(now_us()),
      next_memory_(now_us() + options_.remember_every_us) {
  if (auto const energy = energy_.look(false)) happen(*energy);
}

void Server::run() {
  while (once()) {
  }
  remember_all();
}

// Waits for events and handles them. False when it is time to leave.
bool Server::once() {
  auto const news = sockets_.wait(until_next(now_us()));
  bool has_served_reader = false;  // one is enough: others wait for this turn
  for (auto const connection : news.readable)
    if (!readers_.has(connection) || !std::exchange(has_served_reader, true)) hear(connection);
  if (news.has_new)
    for (auto const reader : sockets_.let_in_new())
      if (!readers_.come(reader, sockets_.peer(reader).user, now_us())) close(reader);
  if (news.has_other) hear_recollections();
  if (news.is_to_leave) return false;
  for (auto const connection : sockets_.take_throttled(now_us())) hear(connection);
  auto const now = now_us();
  do_what_is_due(now);
  own_place_.settle(now);
  return !is_of_no_use(now);
}

// The first of the times at which something must be done without an event.
std::optional<Time> Server::until_next(Time now) const {
  std::optional<Time> next = core_.next_tick();
  auto const at = [&](std::optional<Time> t) {
    if (t) next = std::min(next.value_or(*t), *t);
  };
  if (options_.idle_exit_us && sockets_.empty()) at(nobody_since_ + *options_.idle_exit_us);
  if (!sockets_.empty()) at(next_look_);
  at(cgroups_.due());
  if (core_.programs() > 0) at(next_memory_);
  at(profiles_.due());
  at(log_->due());
  at(sockets_.next_throttled());
  if (!next) return std::nullopt;
  return std::max<Time>(0, *next - now);
}

void Server::do_what_is_due(Time now) {
  if (auto const due = core_.next_tick(); due && *due <= now) happen(Tick{});
  if (!sockets_.empty() && next_look_ <= now) look_around(now);
  if (auto const due = cgroups_.due(); due && *due <= now)
    for (auto const& change : cgroups_.look(core_.machine(), now)) happen(change);
  if (next_memory_ <= now) {
    next_memory_ = now + options_.remember_every_us;
    remember_all();
  }
  for (auto const connection : profiles_.take_overdue(now)) send_welcome_if_waiting(connection);
  log_->say_unsaid_moves(now);
}

bool Server::is_of_no_use(Time now) const {
  return options_.idle_exit_us && sockets_.empty() && now >= nobody_since_ + *options_.idle_exit_us;
}

// Twice a second while a program is there.
void Server::look_around(Time now) {
  bool const is_first = now >= next_look_ + look_every_us;  // after a long time
  if (auto const energy = energy_.look(!is_first)) happen(*energy);
  next_look_ = now + (is_first ? second_look_us : look_every_us);
  own_place_.look();
  for (auto const reader : readers_.slow(now)) close(reader);
  auto const holders = core_.holders();
  cgroups_.begin_round(holders, now);
  close_outlived(holders);
  tell_how_many();
  if (!options_.minds_external_load) return;
  bool const are_too_many = welcomed_ > many_programs;
  if (is_first || are_too_many || were_too_many_)
    external_load_.start_over(core_.free(),
                              are_too_many ? ExternalLoad::Members{} : times_of_programs());
  else
    external_load_.look(core_.machine(), core_.free(), times_of_programs());
  were_too_many_ = are_too_many;
  if (external_load_.has_changed())
    happen(Load{external_load_.busy(), external_load_.is_unseen_elsewhere()});
}

// The kernel closes a connection with its program, unless a child has it, too: one that the program
// made without fork(), whose handlers would have closed it (_Fork(), clone()). Of very many programs
// only those that hold cpus are looked at.
void Server::close_outlived(std::vector<std::pair<std::uint32_t, Connection>> const& holders) {
  std::vector<Connection> looked_at;
  for (auto const& [user, holder] : holders) looked_at.push_back(holder);
  if (welcomed_ <= many_programs) {
    looked_at.clear();
    for (auto const& [connection, program] : programs_) looked_at.push_back(connection);
  }
  for (auto const connection : looked_at)
    if (sockets_.has(connection) && sockets_.peer(connection).process.has_ended())
      close(connection);
}

// ---- messages from connections

void Server::hear(Connection from) {
  if (!sockets_.has(from)) return;
  if (readers_.has(from)) return serve_reader(from);
  std::array<std::byte, largest_message + 1> bytes;
  auto const size = sockets_.receive(from, bytes, now_us());
  if (!size) return close(from);
  if (*size == 0) return;
  std::span<std::byte const> const whole(bytes.data(), std::min(*size, bytes.size()));
  auto decoded = decode_from_program(whole);
  if (auto const* const wrong = std::get_if<DecodeError>(&decoded))
    return refuse(from, *wrong, whole);
  auto& message = std::get<ProgramMessage>(decoded);
  if (auto const* const query = std::get_if<Query>(&message)) return answer_query(from, *query);
  if (auto const* const request = std::get_if<Request>(&message))
    note_request(from, *request);
  else
    own_place_.hear(from);
  if (auto* const about = std::get_if<Register>(&message)) note_register(from, *about);
  if (auto const* const report = std::get_if<Report>(&message))
    profiles_.note_region(from, report->region);
  if (auto const* const release = std::get_if<Release>(&message))
    if (auto* const page = page_of(from)) page->forget(release->lease);
  auto const& peer = sockets_.peer(from);
  happen(Event{std::in_place_type<Received>, from, message, peer.user, peer.process.started});
}

void Server::refuse(Connection from, DecodeError wrong, std::span<std::byte const> message) {
  bool const is_foreign = wrong == DecodeError::foreign_version;
  auto const versions = " version=" + std::to_string(version_in(message)) +
                        " own_version=" + std::to_string(protocol_version);
  log_->warn_once("sends what is " + std::string(to_string(wrong)), sockets_.peer(from),
                  is_foreign ? versions : "");
  send(from,
       Refusal{0, is_foreign ? Refusal::Reason::foreign_version : Refusal::Reason::malformed});
  close(from);
}

void Server::note_register(Connection from, Register& about) {
  Peer const& peer = sockets_.peer(from);
  about.pid = static_cast<std::uint32_t>(peer.pid);
  Program& program = programs_[from];
  program.listens = about.listens != 0;
  if (program.page) return;  // the core refuses the message
  auto const file = peer.process.look([&] { return platform::program_of(peer.pid); });
  program.known = {.name = std::string(about.name.view()),
                   .path = file ? file->string() : "",
                   .binary = about.binary,
                   .user = peer.user,
                   .process = file ? peer.process : platform::ProcessIdentity{}};
}

// The program sleeps at the cpu that it names, or is awake and looks at its page.
void Server::note_request(Connection from, Request const& request) {
  auto* const page = page_of(from);
  if (page != nullptr) page->forget(request.returned);
  bool const is_awake = page != nullptr && page->awaits(request.ticket);
  int const cpu =
      request.place == unknown_place ? OwnPlace::anywhere : static_cast<int>(request.place);
  own_place_.ask(from, cpu, !is_awake, now_us());
  profiles_.note_region(from, request.region);
}

// By number; the last entry is for the host alone.
std::vector<Status> Server::statuses() {
  happen(Tick{});
  auto all = core_.statuses();
  for (auto const& [connection, program] : programs_) {
    if (program.page == nullptr) continue;
    auto const about =
        std::lower_bound(all.begin(), std::prev(all.end()), program.number,
                         [](Status const& s, std::uint32_t number) { return s.program < number; });
    if (about->program == program.number) program.page->add_counts(*about);
  }
  return all;
}

// Until it begins anew, all answers describe the moment of its first question.
void Server::answer_query(Connection to, Query const& query) {
  own_place_.hear(to);
  auto const take = [this] { return statuses(); };
  auto const user = sockets_.peer(to).user;
  auto const status = snapshots_.answer(to, user, query.program, now_us(), take);
  // An earlier event may have removed it.
  if (!sockets_.has(to)) return snapshots_.forget(to, user);
  send(to, status);
}

void Server::serve_reader(Connection reader) {
  own_place_.hear(reader);
  auto const numbers = [this] { return metrics_answer(statuses()); };
  if (!readers_.serve(reader, sockets_, numbers, now_us)) close(reader);
}

void Server::close(Connection connection) {
  if (!sockets_.has(connection)) return;
  own_place_.leave();
  remember(connection);
  auto const peer = sockets_.peer(connection);
  sockets_.close(connection);
  readers_.leave(connection);
  snapshots_.forget(connection, peer.user);
  profiles_.leave(connection);
  cgroups_.leave(connection, peer.user);
  auto const program = programs_.extract(connection);
  if (program && program.mapped().page) {
    note_what_it_worked(peer);
    program.mapped().page->close();
    log_->say_move("program left", peer, now_us());
    --welcomed_;
    note_how_many();
  }
  if (sockets_.empty()) nobody_since_ = now_us();
  happen(Lost{connection});
}

// ---- messages from the core

// Handles the event, and all events that follow from it, one after the other: carrying out the
// core's messages makes new events. Events are large, so the first one is not moved.
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
  if (!sockets_.has(what.to)) return;  // it has left since
  auto const found = programs_.find(what.to);
  if (found == programs_.end()) return send(what.to, what.message);
  Program& program = found->second;
  if (auto const* const message = std::get_if<Welcome>(&what.message))
    return welcome(what.to, program, *message);
  if (program.page == nullptr) return send(what.to, what.message);
  if (auto const* const message = std::get_if<Revoke>(&what.message))
    return take_back(what.to, program, *message);
  if (auto const* const advice = std::get_if<Advice>(&what.message))
    return program.page->tell(*advice);
  if (auto const* const grant = std::get_if<Grant>(&what.message))
    if (program.page->answer(*grant)) return;
  if (auto const* const unplaced = std::get_if<Unplaced>(&what.message))
    if (program.page->answer(*unplaced)) return;
  send(what.to, what.message);
}

void Server::welcome(Connection to, Program& program, Welcome const& message) {
  auto const& peer = sockets_.peer(to);
  auto page = ProgramPage::make();
  if (!page) {
    log_->warn_once(page.message(), peer);
    return close(to);
  }
  program.page = std::move(page).value();
  program.welcome = message;
  program.number = message.program;
  log_->say_move("program came", peer, now_us());
  ++welcomed_;
  note_how_many();
  for (auto const& change : cgroups_.come(to, peer, core_.machine(), now_us())) happen(change);
  if (!profiles_.come(to, std::move(program.known), now_us())) send_welcome_if_waiting(to);
}

void Server::send_welcome_if_waiting(Connection to) {
  auto const found = programs_.find(to);
  if (found == programs_.end() || !found->second.welcome) return;
  auto const message = *std::exchange(found->second.welcome, std::nullopt);
  int const memory = found->second.page->take_memory();
  send(to, message, memory);
  platform::close_descriptor(memory);
}

void Server::take_back(Connection from, Program& program, Revoke const& message) {
  switch (program.page->take_back(message)) {
    case ProgramPage::Found::unknown:
      return;
    case ProgramPage::Found::taken:
      return happen(Received{from, Release{message.lease}});
    case ProgramPage::Found::in_use:
      if (is_for_good(message.reason) && program.listens) send(from, message);
      return;
    case ProgramPage::Found::ended:
      log_->warn_once("did not give cpus back that others waited for", sockets_.peer(from));
      if (program.listens) send(from, message);
  }
}

void Server::send(Connection to, CoordinatorMessage const& message, int passed) {
  if (!sockets_.send(to, message, passed)) close(to);
}

// ---- lessons of programs, and hints about the host for them

void Server::hear_recollections() {
  for (auto& [whose, regions] : profiles_.take_recalled()) {
    if (!regions.empty()) happen(Known{whose, std::move(regions)});
    send_welcome_if_waiting(whose);
  }
}

void Server::remember(Connection connection) {
  if (!profiles_.has_news(connection, core_)) return;
  own_place_.leave();  // a thread may begin now and inherit the cpus
  if (!profiles_.remember(connection, core_))
    log_->warn_once("cannot keep up with what programs teach", sockets_.peer(connection));
}

void Server::remember_all() {
  for (auto const& [connection, program] : programs_) remember(connection);
}

// With many programs, a change by one is announced later, to all at once.
void Server::note_how_many() {
  knows_how_many_ = false;
  if (welcomed_ <= many_programs) tell_how_many();
}

void Server::tell_how_many() {
  if (std::exchange(knows_how_many_, true)) return;
  for (auto const& [_, program] : programs_)
    if (program.page) program.page->tell_programs(welcomed_);
}

ProgramPage* Server::page_of(Connection connection) {
  auto const found = programs_.find(connection);
  return found == programs_.end() ? nullptr : found->second.page.get();
}

// By process, which may be several programs.
// Less those whose process had ended before they were heard: what a child of theirs does with the
// connection may not keep the load of others from being found.
ExternalLoad::Members Server::times_of_programs() const {
  ExternalLoad::Members times;
  for (auto const& [connection, program] : programs_) {
    auto const& peer = sockets_.peer(connection);
    if (program.page != nullptr && peer.process.started != 0 && !times.contains(peer.pid))
      times[peer.pid] = time_of(peer);
  }
  return times;
}

std::int64_t Server::time_of(Peer const& peer) {
  auto const time = peer.process.look([&] { return platform::cpu_time_of(peer.pid); });
  return time ? time->value_or(ExternalLoad::unknown) : ExternalLoad::unknown;
}

// Its process may be about to end: its time can still be read for a moment.
void Server::note_what_it_worked(Peer const& gone) {
  if (!options_.minds_external_load || welcomed_ > many_programs) return;
  bool const stays = std::any_of(programs_.begin(), programs_.end(), [&](auto const& p) {
    return p.second.page != nullptr && sockets_.peer(p.first).pid == gone.pid;
  });
  if (!stays) external_load_.leave(gone.pid, time_of(gone));
}

}  // namespace nigh::coordinator
