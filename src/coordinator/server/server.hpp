// SPDX-License-Identifier: Apache-2.0
#pragma once
// The coordinator at work: programs connect to a socket, their messages go into the state machine
// (core/), and its answers go out. One thread, which sleeps when there is nothing to do.
//
// Each program gets a page (protocol/lease_word.hpp). Where the core asks for a lease that is idle
// there, this takes it back itself, and the core hears of a Release.
//
// A program's connection is its life: the kernel closes it, however the program ends. Who sends
// what is no message is told so, and disconnected; who does not read its answers is disconnected;
// what one does more than once is logged once.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator/protocol/codec.hpp"
#include "coordinator/protocol/lease_word.hpp"
#include "coordinator/server/line_rate.hpp"
#include "coordinator/server/own_place.hpp"
#include "coordinator/server/region_memory.hpp"
#include "coordinator/server/status_snapshots.hpp"
#include "coordinator/server/strangers.hpp"
#include "coordinator/server/traffic.hpp"
#include "platform/cgroup.hpp"
#include "platform/energy.hpp"
#include "platform/event_set.hpp"
#include "platform/process_identity.hpp"

namespace nigh::coordinator {

struct ServerOptions {
  int listener = -1;          // for messages; the server's from now on
  int metrics_listener = -1;  // for whoever reads numbers, its too; -1: none
  int signals = -1;           // readable when the server is to leave; -1: none
  CoordinatorOptions core{};
  bool any_user = false;  // else the server's own and root
  std::size_t connections = 16'384;
  // At most; with `any_user`, it is at most half of what the others leave, too, so that some are
  // left for the next user.
  std::size_t connections_of_a_user = 16'384;
  std::size_t connections_for_each = 8;  // as long as there are any
  TrafficOptions traffic{};
  std::optional<Time> idle_exit_us{};   // leaves when nobody was connected for so long
  Time readers_within_us = 10'000'000;  // who reads numbers is to go on with it
  bool minds_strangers = true;          // looks how busy others keep the cpus
  // All that its thread may have, which then sleeps beside who asks; none: it stays where it is.
  std::vector<int> own_cpus{};
  // Of the system's files, to look how much energy is used.
  std::filesystem::path energy_root = "/";
  std::filesystem::path cgroup_root = "/";  // the same, for quotas and cpusets of programs
  Keeper keeper{};
  Time remember_every_us = 60'000'000;  // what programs that run for long have taught
  // A line for people: what happened, and to whom.
  enum class Level : std::uint8_t { info, warning };
  std::function<void(Level, std::string_view what, std::string_view whom)> log{};
};

class Server {
 public:
  static result<std::unique_ptr<Server>> start(policy::CoreMap machine, ServerOptions options);
  ~Server();
  Server(Server&&) = delete;

  // Until a signal, or nobody needs it any more.
  void run();

  // For who drives the server in a thread of its own: tests.
  Coordinator const& core() const noexcept { return core_; }

 private:
  struct Member {
    int socket = -1;
    bool is_read = true;  // as its events come; else it is throttled (traffic.hpp)
    unsigned user = 0;
    int pid = 0;
    platform::ProcessIdentity process{};
    bool reads_metrics = false;
    std::string unread{};  // of the numbers
    Time last_read = 0;
    bool listens = false;       // Register::listens
    LeasePage* page = nullptr;  // of a program
    KnownProgram program{};
    bool is_recalled = false;          // the program is known as well as it can be
    std::set<std::uint32_t> looked{};  // for libraries of these numbers
    std::optional<Welcome> welcome{};  // not sent yet, until it is known what its regions can use
    int memory = -1;                   // that goes with it
    std::uint64_t remembered = 0;      // of its reports
    std::vector<QuotaBound> bounds{};  // of its cgroups, as the core knows them
    CpuSet cpuset{};
    std::map<LeaseId, Ticket> leases;
  };

  Server(policy::CoreMap machine, ServerOptions options, platform::EventSet events);

  static constexpr std::size_t many_programs = 256;  // too many to do something for each at once

  bool once();
  std::optional<Time> until_next(Time now) const;
  void let_in(int listener, bool reads_metrics);
  void turn_away(int listener);
  void hear(Connection from);
  void answer_query(Connection to, Member& member, Query const& query);
  void hear_throttled();
  void listen_again(Connection connection, Member& member);
  void note_place(Connection from, Member const& member, Request const& request);
  void answer_metrics(Connection to, Member& member);
  void close_slow_readers(Time now);
  void close(Connection connection);

  void happen(Event const& event);
  void carry_out_all(std::vector<Send> const& what);
  void carry_out(Send const& send);
  void welcome(Connection to, Member& member, Welcome const& message);
  void send_welcome(Connection to, Member& member);
  void send_welcome_if_waiting(Connection to);
  void send_overdue_welcomes(Time now);
  void hear_memory();
  void note_how_many();
  void tell_how_many();
  void look_for_library(Connection of, Member& member, RegionId region);
  void take_back(Connection from, Member& member, Revoke const& message);
  void send(Connection to, Member& member, CoordinatorMessage const& message, int passed = -1);
  void look_around(Time now);
  std::map<int, std::int64_t> times_of_members() const;
  void look_at_energy(bool since_last);
  void look_at_cgroups();
  void look_at_cgroups(Connection whose, Member& member, platform::CgroupReader& reader);
  void remember(Connection connection, Member& member);
  void remember_all();
  void say_who_moves(std::string_view what, Member const& whom);
  void say_how_many_moved(Time now);
  void say(ServerOptions::Level level, std::string_view what, Member const& whom,
           std::string_view more = {});
  void warn_once(std::string_view what, Member const& whom, std::string_view more = {});

  ServerOptions options_;
  Coordinator core_;
  platform::EventSet events_;
  std::map<Connection, Member> members_;
  std::size_t programs_ = 0;                        // of these
  bool knows_how_many_ = true;                      // so do the programs
  Connection looked_at_last_ = 0;                   // of which cgroups were looked at
  std::map<unsigned, std::size_t> connections_of_;  // by user
  Traffic traffic_;
  Connection last_connection_;
  bool is_happening_ = false;
  std::deque<Event> to_happen_;  // after what happens now
  Time nobody_since_;
  Strangers strangers_;
  OwnPlace own_place_;
  platform::EnergyMeter energy_;
  int spare_;  // a descriptor to turn programs away with
  bool measures_energy_ = false;
  Time next_look_ = 0;
  RegionMemory memory_;
  // Who waits for its Welcome, until when. Some have it by now, or are gone.
  std::deque<std::pair<Time, Connection>> waiting_;
  Time next_memory_;
  std::map<std::string, int, std::less<>> warned_;
  LineRate moves_{50};  // of programs that come and leave
  StatusSnapshots snapshots_;
};

}  // namespace nigh::coordinator
