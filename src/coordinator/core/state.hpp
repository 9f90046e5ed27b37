// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state that the coordinator keeps from one event to the next.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coordinator/core/events.hpp"
#include "coordinator/core/quotas.hpp"
#include "coordinator/core/regions.hpp"
#include "coordinator/protocol/message.hpp"
#include "policy/cpus/user_share.hpp"
#include "policy/cpus/core_allocation.hpp"

namespace nigh::coordinator {

struct CoordinatorOptions {
  // Regions begin with their equal part of the host, or wait for it (decision 0007).
  policy::CoreAllocationOptions allocation{.scarcity = {100}};
  Time slice_us = 50'000;          // the next holder finds the caches full of others' data
  Time round_us = 100'000;         // of slices, while a request waits that will not wait for ever
  Time shortest_slice_us = 5'000;  // then
  Time idle_slice_us = 20'000;     // of a lease that no region uses just then
  Time overdue_us = 10'000'000;    // long regions are not interrupted
  // For leases of a user that has more than its part, while another lacks some of its own.
  Time overdue_between_users_us = 400'000;
  policy::BackOffPolicy back_off{};  // for programs whose leases have ended so
  Time active_us = 1'000'000;        // a user that has asked or given back is expected for so long
  Time want_us = 500'000;            // a program that got no cpus in time is in want for so long
  Time return_us = 50'000;  // a program that gave back for others is expected again for so long
  // a lease counts as unused when idle for so long, while others have few cpus
  Time rest_us = 20'000;
  Time keep_us = 10'000;           // for so long, returned cpus are kept for a program in want
  Time claims_us = 1'000'000;      // from the start: leases of a coordinator before this one
  std::size_t programs = 16'384;   // at a time
  std::size_t open_requests = 64;  // of a program: waiting ones and leases
  policy::UserLimit requests{16'384, 64};  // waiting ones, and those of a user
  std::size_t line = 128;                  // of these, in line; each user always has one there
  std::size_t line_of_a_user = 16;
  std::size_t regions = 256;   // of a program, whose times are learnt
  int trial_percent = 1;       // of a region's time for trials with other teams
  int busy_trial_percent = 2;  // when other programs would use the cpus
};

class CoordinatorState {
 protected:
  CoordinatorState(policy::CoreMap machine, CoordinatorOptions const& options, Time now)
      : machine_(std::move(machine)),
        options_(options),
        started_(now),
        now_(now),
        claims_until_(now + options.claims_us),
        free_(policy::PositionSet::all(machine_.size())),
        busy_(machine_.size()),
        slice_(options.slice_us) {}

  // Programs with a cgroup's quota come to the line in their own order, so that those waiting for
  // their quota are in no other program's way.
  enum Kind : std::uint8_t { free_of_quotas, under_quota, kinds };
  enum class Stands : std::uint8_t { nowhere, in_line, outside };
  struct Program;
  struct Waiting {
    Connection owner = 0;
    Program* program = nullptr;  // the owner
    RegionId region = 0;
    Ticket ticket = 0;
    policy::ThreadDemand demand;
    int place = -1;
    Time since = 0;
    std::optional<Time> until{};  // its patience is over; none: it waits for ever
    Time place_since = 0;         // it stands in line as if it had come then
    int suits = 0;                // cpus
    Kind kind = free_of_quotas;   // when it came here, and then to the line
    std::uint64_t round = 0;      // the round of users in which it came
  };
  struct User {
    std::uint32_t id = 0;
    std::size_t programs = 0;
    std::size_t waiting = 0;                   // requests
    int held = 0;                              // cpus
    Time without_since = 0;                    // the end of its last lease, or when it came
    int competing = 0;                         // programs that compete for cpus
    std::array<std::size_t, kinds> in_line{};  // requests, in line or outside
    // Programs with requests behind the line, in round robin. Some are gone, or have none any more.
    std::array<std::deque<Connection>, kinds> turns{};
    bool is_called = false;  // has its turn to come to the line
    std::uint64_t next_round = 0;
    policy::BackOff back_off;
  };
  struct Program {
    Connection connection = 0;
    User* user = nullptr;
    std::uint32_t number = 0;
    std::uint32_t pid = 0;
    std::uint64_t started = 0;  // Status::started
    Name name;
    JobRank rank;
    policy::PositionSet registered;
    policy::PositionSet allowed;  // of these
    int allowed_cpus = 0;
    int held = 0;                  // cpus
    std::size_t open = 0;          // requests and leases
    std::size_t waiting = 0;       // of these, requests
    std::deque<Waiting> behind{};  // of these, those that do not stand in line yet: oldest first
    Stands stands = Stands::nowhere;
    bool has_turn = false;  // in User::turns
    bool competes = false;  // counted as such
    int leaders = 0;        // counted leaders, of a program that competes
    policy::BackOff back_off{};
    std::uint64_t granted = 0;   // leases
    std::uint64_t unplaced = 0;  // requests
    // In want until then; cpus are kept for it until then; so many cpus at most.
    Time want_until = 0;
    Time kept_until = 0;
    Time want_since = 0;
    int want_cpus = 0;
    // When its leaders, which gave cpus back because others waited, stop being expected.
    int returning = 0;
    Time returning_until = 0;
    Time waited = 0;               // of requests that wait no more
    std::vector<Time> cpu_time{};  // held since the last Energy, of each package
    double used_uj = 0;
    Regions regions;
  };
  struct Lease {
    Connection owner = 0;
    Program* program = nullptr;  // the owner
    RegionId region = 0;
    policy::ThreadDemand demand;
    std::uint32_t wanted = 0;
    int place = -1;
    policy::PositionSet cpus;
    int size = 0;
    Time since = 0;
    std::optional<Time> revoked;
    bool is_for_others = false;  // revoked because others wait
    Time asked_if_idle = 0;
    bool floats = false;
  };
  using Leases = std::map<LeaseId, Lease>;

  policy::CoreMap machine_;
  CoordinatorOptions options_;
  Time started_;
  Time now_;
  Time claims_until_;

  std::unordered_map<Connection, Program> programs_;
  std::unordered_map<std::uint32_t, User> users_;
  std::map<std::uint32_t, Connection> by_number_;
  Leases leases_;
  std::deque<Waiting> queue_;  // the line
  Quotas quotas_;
  std::deque<Waiting> outside_;  // oldest first: until their cgroup's quota has a cpu left
  std::deque<User*> called_;     // users with requests behind the line, in round robin
  std::uint64_t round_ = 0;      // of users, that is being served
  std::size_t waiting_ = 0;      // requests: in line, outside, and behind
  int behind_ = 0;               // of these, those behind that no quota keeps there
  int behind_wants_ = 0;         // cpus that these could use
  std::set<std::tuple<Time, Connection, Ticket>> ends_of_patience_;
  std::vector<Program*> in_want_;
  std::vector<Program*> returning_;  // those expected again, in the order in which that began
  int competing_ = 0;  // programs that hold cpus, wait, are in want, or are expected again
  int leaders_ = 0;    // leaders of these
  int competing_users_ = 0;
  std::pair<Connection, Ticket> first_{};  // the request at the front of the line
  Time first_since_ = 0;                   // when it came there
  // The last two users that have asked for cpus or given some back, and when.
  struct Activity {
    User const* user = nullptr;
    Time at = 0;
  };
  std::array<Activity, 2> active_{};
  policy::PositionSet free_;
  policy::PositionSet busy_;  // with external load
  bool has_unseen_load_ = false;
  Time slice_;                  // now
  bool may_grow_ = false;       // cpus have become free since leases were last offered more
  bool has_one_ended_ = false;  // of the programs, since then
  Time next_offer_ = 0;
  Time next_rest_ = 0;

  std::vector<policy::PositionSet> packages_;  // the ones whose energy is known; usually none
  Time energy_since_ = 0;
  std::uint64_t energy_uj_ = 0;

  std::uint32_t last_program_ = 0;
  LeaseId last_lease_ = 0;
  std::uint64_t revocations_ = 0;
  std::uint64_t refusals_ = 0;
  std::uint64_t unplaced_ = 0;
  std::vector<Send> out_;
};

}  // namespace nigh::coordinator
