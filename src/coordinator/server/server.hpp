// SPDX-License-Identifier: Apache-2.0
#pragma once
// The coordinator at work: programs connect to a socket, their messages go into the state machine
// (core/), and its answers go out. One thread, which sleeps when there is nothing to do.
//
// Each program gets a page (program_page.hpp). Where the core asks for a lease that is idle there,
// the server takes it back itself, and the core hears of a Release.
//
// A client that sends what is no message is told so, and disconnected; a client that does not read
// its answers is disconnected.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator/protocol/codec.hpp"
#include "coordinator/server/external_load.hpp"
#include "coordinator/server/metrics_readers.hpp"
#include "coordinator/server/own_place.hpp"
#include "coordinator/server/program_page.hpp"
#include "coordinator/server/program_profiles.hpp"
#include "coordinator/server/server_log.hpp"
#include "coordinator/server/sockets.hpp"
#include "coordinator/server/status_snapshots.hpp"
#include "coordinator/server/watches.hpp"

namespace nigh::coordinator {

struct ServerOptions : SocketOptions {
  using Level = ServerLog::Level;
  CoordinatorOptions core{};
  std::optional<Time> idle_exit_us{};  // leaves after so long without connections
  // a reader of numbers is disconnected when it stops for so long
  Time readers_within_us = 10'000'000;
  bool minds_external_load = true;  // looks for external load
  // All cpus that its thread may use; it then sleeps beside its client. None: it never moves.
  std::vector<int> own_cpus{};
  // Where the system's files are, for the energy used.
  std::filesystem::path energy_root = "/";
  std::filesystem::path cgroup_root = "/";  // the same, for quotas and cpusets of programs
  Keeper keeper{};
  // how often to store the lessons of programs that run for long
  Time remember_every_us = 60'000'000;
  ServerLog::Writer log{};  // lines for people
};

class Server {
 public:
  static result<std::unique_ptr<Server>> start(policy::CoreMap machine, ServerOptions options);
  Server(Server&&) = delete;

  // Until a signal, or no program needs it any more.
  void run();

  // For tests, which drive the server in a thread of its own.
  Coordinator const& core() const noexcept { return core_; }

 private:
  // A connection that has sent a Register.
  struct Program {
    bool listens = false;  // Register::listens
    KnownProgram known{};
    std::unique_ptr<ProgramPage> page{};  // once the core has welcomed it
    std::optional<Welcome> welcome{};     // not sent yet: the profile is being read
    std::uint32_t number = 0;             // Welcome::program
  };

  Server(policy::CoreMap machine, ServerOptions options, std::unique_ptr<ServerLog> log,
         Sockets sockets);

  // The loop.
  bool once();
  std::optional<Time> until_next(Time now) const;
  void do_what_is_due(Time now);
  bool is_of_no_use(Time now) const;
  void look_around(Time now);
  void close_outlived(std::vector<std::pair<std::uint32_t, Connection>> const& holders);

  // Messages from connections.
  void hear(Connection from);
  void refuse(Connection from, DecodeError wrong, std::span<std::byte const> message);
  void note_register(Connection from, Register& about);
  void note_request(Connection from, Request const& request);
  std::vector<Status> statuses();
  void answer_query(Connection to, Query const& query);
  void serve_reader(Connection reader);
  void close(Connection connection);

  // Messages from the core.
  void happen(Event const& event);
  void carry_out_all(std::vector<Send> const& what);
  void carry_out(Send const& send);
  void welcome(Connection to, Program& program, Welcome const& message);
  void send_welcome_if_waiting(Connection to);
  void take_back(Connection from, Program& program, Revoke const& message);
  void send(Connection to, CoordinatorMessage const& message, int passed = -1);

  // Lessons of programs, and hints about the host for them.
  void hear_recollections();
  void remember(Connection connection);
  void remember_all();
  void note_how_many();
  void tell_how_many();
  ProgramPage* page_of(Connection connection);
  ExternalLoad::Members times_of_programs() const;
  static std::int64_t time_of(Peer const& peer);
  void note_what_it_worked(Peer const& gone);

  static constexpr std::size_t many_programs = 256;  // too many for work on each at once

  ServerOptions options_;
  std::unique_ptr<ServerLog> log_;
  Coordinator core_;
  Sockets sockets_;
  std::map<Connection, Program> programs_;
  std::size_t welcomed_ = 0;    // of these
  bool were_too_many_ = false;  // many_programs, at the last look
  bool knows_how_many_ = true;  // the programs know this number, too
  bool is_happening_ = false;
  std::deque<Event> to_happen_;  // after the present event
  ProgramProfiles profiles_;
  MetricsReaders readers_;
  StatusSnapshots snapshots_;
  OwnPlace own_place_;
  ExternalLoad external_load_;
  EnergyWatch energy_;
  CgroupWatch cgroups_;
  Time nobody_since_;
  Time next_look_ = 0;
  Time next_memory_;
};

}  // namespace nigh::coordinator
