// SPDX-License-Identifier: Apache-2.0
#pragma once
// The coordinator of all parallel programs on a host, as a state machine: what happened and when
// goes in, messages come out. No clock, no socket, no thread: the daemon, the simulator and the
// tests drive the same one.
//
//   asked ──▶ waiting ──▶ leased ──▶ revoked ──▶ gone
//     │          │  └ its patience is over: unplaced
//     └──────────────────────▲  └────────────────▲
//
// - Requests wait in the order they came; one of a program that something is kept for, as if it had
//   come when that began, but never in front of one that waits for ever. A later one may be served
//   before an earlier one only with cpus that the earlier one must not use, so nobody is overtaken.
// - A lease stays until its program gives it back; while others wait it is asked for, at the
//   earliest a slice after it was granted; before that, if no region uses it just then. A lease
//   that is not back `overdue` later, and waited for by who waits for ever, ends all the same:
//   whoever still runs there is as slow as without a coordinator, but not wrong.
// - A request that has waited for as long as it would is answered, and waits no more: its region
//   runs on shared cpus. Its program is in want for a while: leases are asked back for it as if it
//   waited, and for the first moments what comes back is kept for it from others that do not wait
//   for ever. Slices are shorter meanwhile, so that all have their turn within their patience.
// - So the k-th in line is served within k x (slice + overdue), and usually within the time that
//   others' regions take. Why: what is in the way of the first in line was granted before it became
//   first, so all of that is revoked a slice later, and gone by the end of `overdue`; then all cpus
//   it may use are free, and no request needs more than those. One that does not wait for ever is
//   answered at the end of its patience at the latest.
// - Programs of one cgroup together hold no more cpus than its quota has time for. The k-th in line
//   is then the k-th of those whose cgroup has cpus left (quotas.cpp).

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "coordinator/core/quotas.hpp"
#include "coordinator/core/regions.hpp"
#include "coordinator/protocol/message.hpp"
#include "policy/core_allocation.hpp"
#include "policy/lease_patience.hpp"

namespace nigh::coordinator {

using Time = std::int64_t;  // microseconds since any moment; never goes back

struct CoordinatorOptions {
  // Regions begin with their equal part of the host, or wait for it (decision 0007).
  policy::CoreAllocationOptions allocation{.scarcity = {100}};
  Time slice_us = 50'000;          // who comes next finds the caches full of others' data
  Time round_us = 100'000;         // of slices, while somebody waits who will not wait for ever
  Time shortest_slice_us = 5'000;  // then
  Time idle_slice_us = 20'000;     // of a lease that no region uses just then
  Time overdue_us = 10'000'000;    // long regions are not interrupted
  Time want_us = 500'000;          // who got no cpus in time is in want for so long
  Time return_us = 50'000;         // who gave back for others is expected again for so long
  Time rest_us = 20'000;           // a lease that is idle for so long while others have few cpus
  Time keep_us = 10'000;           // and for so long what comes back is kept for it
  Time claims_us = 1'000'000;      // from the start: leases of a coordinator before this one
  std::size_t programs = 1024;     // at a time
  std::size_t open_requests = 64;  // of a program: waiting ones and leases
  std::size_t regions = 256;       // of a program that are learnt about
  int trial_percent = 1;           // of a region's time for trials with other teams
  int busy_trial_percent = 2;      // when other programs would use the cpus
};

// What happens.
struct Received {
  Connection from = 0;
  ProgramMessage message;
};
struct Lost {  // the program died, left, or its connection broke
  Connection connection = 0;
};
struct Tick {};                      // time has passed
struct Load {                        // of programs without a coordinator
  CpuSet busy;                       // cpus that they keep busy: given last
  bool is_unseen_elsewhere = false;  // they use leased cpus, too, it is not known which
};
struct Energy {  // that the host has used since the last event of this kind
  struct Package {
    CpuSet cpus;
    std::uint64_t used_uj = 0;
    bool operator==(Package const&) const = default;
  };
  std::vector<Package> packages;
};
struct Known {  // of a program that has come: what it was told or taught when it ran before
  Connection connection = 0;
  std::vector<KnownRegion> regions;
};
struct Bound {  // by quotas of cpu time, from now on: all of them
  Connection connection = 0;
  std::vector<QuotaBound> bounds;
};
struct Allowed {  // by its cpuset, from now on; none: the system does not say
  Connection connection = 0;
  CpuSet cpus;
};
using Event = std::variant<Received, Lost, Tick, Load, Energy, Known, Bound, Allowed>;

struct Send {
  Connection to = 0;
  CoordinatorMessage message;
};

class Coordinator {
 public:
  Coordinator(policy::CoreMap machine, CoordinatorOptions options, Time now);

  std::vector<Send> step(Event const& event, Time now);

  // When a Tick is due, if nothing else happens before.
  std::optional<Time> next_tick() const;

  int programs() const noexcept { return static_cast<int>(programs_.size()); }
  int leases() const noexcept { return static_cast<int>(leases_.size()); }
  int waiting() const noexcept { return static_cast<int>(queue_.size() + outside_.size()); }
  policy::PositionSet const& free() const noexcept { return free_; }
  policy::CoreMap const& machine() const noexcept { return machine_; }

  // What is known by now of a program's regions, and from how many reports. Nothing of one that
  // has not come, or has left.
  std::vector<KnownRegion> known_regions(Connection connection) const;
  std::uint64_t reports(Connection connection) const;

  // Of all programs by number, as of the last step; the last one is of the host alone.
  std::vector<Status> statuses() const;

  // Aborts if a cpu has two leases or a lost one, a lease no living owner, or somebody waits for
  // nothing. Debug builds do it after every step.
  void check() const;

 private:
  struct Program {
    std::uint32_t number = 0;
    std::uint32_t pid = 0;
    Name name;
    JobRank rank;
    policy::PositionSet registered;
    policy::PositionSet allowed;  // of these
    int allowed_cpus = 0;
    int held = 0;  // cpus
    std::size_t open = 0;
    std::uint64_t granted = 0;   // leases
    std::uint64_t unplaced = 0;  // requests
    // In want until then; what is kept for it, until then; of so many cpus at most.
    Time want_until = 0;
    Time kept_until = 0;
    Time want_since = 0;
    int want_cpus = 0;
    // Its masters that gave cpus back because others waited, and are expected again until then.
    int returning = 0;
    Time returning_until = 0;
    Time waited = 0;               // requests that wait no more
    std::vector<Time> cpu_time{};  // held since the last Energy, of each package
    double used_uj = 0;
    Regions regions;
  };
  struct Lease {
    Connection owner = 0;
    RegionId region = 0;
    policy::ThreadDemand demand;
    std::uint32_t wanted = 0;
    int place = -1;
    policy::PositionSet cpus;
    int size = 0;
    Time since = 0;
    std::optional<Time> revoked;
    bool is_for_others = false;  // and revoked because they wait
    Time asked_if_idle = 0;
    bool floats = false;
  };
  struct Waiting {
    Connection owner = 0;
    RegionId region = 0;
    Ticket ticket = 0;
    policy::ThreadDemand demand;
    int place = -1;
    Time since = 0;
    std::optional<Time> until{};  // its patience is over; none: it waits for ever
    Time place_since = 0;         // its place in line is that of one who came then
  };
  using Leases = std::map<LeaseId, Lease>;

  void happen(Received const& e);
  void happen(Lost const& e);
  void happen(Tick const&) {}
  void happen(Load const& e);
  void happen(Energy const& e);
  void happen(Known const& e);
  void happen(Bound const& e);
  void happen(Allowed const& e);
  void take(Connection from, Register const& m);
  void take(Connection from, Request const& m);
  void take(Connection from, Claim const& m);
  void take(Connection from, Release const& m);
  void take(Connection from, Report const& m);
  void take(Connection from, Query const& m);

  void send(Connection to, CoordinatorMessage message);
  void refuse(Connection to, Refusal::Reason why, Ticket ticket = 0);
  void send_advice(Connection to, Regions& regions);
  bool has_room_for(Connection from, Ticket ticket, bool gives_one_back);
  bool give_back(Connection from, LeaseId id);

  // serve.cpp: who gets what, once it is known what happened
  void expire();
  void serve();
  policy::CoreDecision decide_for(Waiting const& request, policy::PositionSet const& kept,
                                  int waiting_behind) const;
  void grant(Waiting const& request, policy::CoreDecision const& decision);
  void ask_if_idle(Lease& lease, LeaseId id);
  void revoke(Lease& lease, LeaseId id, Revoke::Reason why);
  Leases::iterator end(Leases::iterator lease);
  void make_room();
  void offer_more();
  bool has_few(Lease const& lease) const noexcept {
    return !lease.revoked && lease.size < lease.demand.maximum;
  }
  void look_for_resting();
  bool is_larger_by_now(Lease const& lease) const;

  // want.cpp: who got no cpus in time
  void line_up(Waiting request);
  void give_up();
  void run_unplaced(Waiting const& request, int want_cpus);
  void set_slice();
  bool is_in_want(Program const& program) const noexcept { return now_ < program.want_until; }
  bool anybody_in_want() const noexcept { return now_ < want_until_; }
  void expect_again(Program& owner);
  bool is_returning(Program const& p) const noexcept {
    return p.returning > 0 && now_ < p.returning_until;
  }
  bool anybody_returns() const;
  int expected_beside(Program const& owner) const;
  int lacking_in_want(Program const& program) const;
  int lacking_in_want() const;
  policy::PositionSet wanted_by_the_patient() const;
  bool is_anything_kept_from(Waiting const& request) const;
  policy::PositionSet kept_from(Waiting const& request, policy::PositionSet available) const;
  int in_want_beside(Waiting const& request, policy::PositionSet const& available) const;
  policy::PositionSet wanted_by_all() const;
  int competing() const;
  int equal_part() const;
  int attainable(Program const& program) const;
  bool is_above_its_part(Lease const& lease, int part) const;
  int masters_of(Program const& program) const;
  int place_of(Program const& program, int masters_cpu) const;
  Program const& program(Connection c) const { return programs_.at(c); }
  Program& program(Connection c) { return programs_.at(c); }
  bool is_ripe(Lease const& lease) const noexcept {
    return !lease.revoked && lease.since + slice_ <= now_;
  }
  Time ripe_if_idle_at(Lease const& lease) const noexcept {
    return std::max(lease.since, lease.asked_if_idle) + std::min(slice_, options_.idle_slice_us);
  }
  bool is_ripe_if_idle(Lease const& lease) const noexcept {
    return !lease.revoked && ripe_if_idle_at(lease) <= now_;
  }

  // quotas.cpp: what programs may have
  int held_in(Quotas::Group const& group) const;
  int queued_in(Quotas::Group const& group) const;
  int part_in(Quotas::Group const& group) const;
  int left_for(Connection who) const;
  int most_for(Connection who, int instead_of = 0) const;
  static policy::ThreadDemand within_quota(policy::ThreadDemand demand, int most);
  void admit();
  bool is_waited_for_outside(Quotas::Group const& group) const;
  void expire_outside();
  void end_overdue();
  void keep_within_bounds();
  std::optional<Time> next_tick_outside() const;
  void check_outside() const;

  // accounts.cpp: what programs have had
  void count_time(Lease const& lease);
  Status status(std::uint32_t number) const;
  void describe(Connection whom, Status& in) const;

  policy::CoreMap machine_;
  CoordinatorOptions options_;
  Time started_;
  Time now_;
  Time claims_until_;

  std::map<Connection, Program> programs_;
  std::map<std::uint32_t, Connection> by_number_;
  Leases leases_;
  std::deque<Waiting> queue_;  // oldest first
  Quotas quotas_;
  std::deque<Waiting> outside_;  // oldest first: until their cgroup's quota has a cpu left
  Time first_since_ = 0;         // when the one at the front came there
  policy::PositionSet free_;
  policy::PositionSet busy_;  // with others' programs
  bool has_unseen_strangers_ = false;
  Time slice_;           // now
  Time want_until_ = 0;  // of all programs, the latest
  Time returning_until_ = 0;
  bool may_grow_ = false;  // cpus have become free since leases were last offered more
  Time next_offer_ = 0;
  Time next_rest_ = 0;

  std::vector<policy::PositionSet> packages_;  // whose energy is known; usually none
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
