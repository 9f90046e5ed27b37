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
// - Requests wait in a line, with one place for each program at a time: its other requests stand
// behind. Users come to the line in round robin, and so do the programs of a user (line.cpp), so
// that the waiting requests of one delay the others by one place. The line is served in order. A
// request of a program for which cpus are kept has a place as if it had come when the keeping
// began, but never in front of a request that waits for ever. A later request is served before an
// earlier one only with cpus that the earlier one must not use.
// - A user that holds its part of the cpus waits behind users that do not. Its cpus beyond its part
// are asked back for them, and end after `overdue_between_users`. A program whose lease has ended
// in this way stands behind others for a while (policy/cpus/user_share.hpp).
// - A lease stays until its program gives it back. While others wait it is asked for, at the
// earliest a slice after it was granted; earlier if it is larger than its equal part, or if no
// region uses it just then. Its program is then expected again for a moment (decision 0020). A
// lease that is not back `overdue` later ends if a request that waits for ever wants it: threads
// still running there are as slow as without a coordinator, but not wrong.
// - A request whose patience is over is answered, and waits no more: its region runs on shared
// cpus. Its program is in want for a while: leases are asked back for it as if it waited, and for
// the first moments the returned cpus are kept for it from requests that do not wait for ever.
// Slices are shorter meanwhile, so that all are served within their patience.
// - So the k-th in a line of one user's programs, of which none backs off, is served within k x
// (slice + overdue), and usually within the time that others' regions take. Reason: every lease in
// the way of the first in line was granted before it became first, so all of them are revoked a
// slice later, and gone by the end of `overdue`; then all cpus it may use are free, and no request
// needs more than those. A request that does not wait for ever is answered at the end of its
// patience at the latest.
// - Programs of one cgroup together hold no more cpus than its quota has time for. The k-th in line
// is then the k-th of those whose cgroup has cpus left (quotas.cpp).

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/core/events.hpp"
#include "coordinator/core/state.hpp"

namespace nigh::coordinator {

class Coordinator : private CoordinatorState {
 public:
  Coordinator(policy::CoreMap machine, CoordinatorOptions options, Time now);
  Coordinator(Coordinator const& from) : CoordinatorState(from) { point_to_own(); }
  Coordinator(Coordinator&&) = default;
  Coordinator& operator=(Coordinator const&) = delete;
  Coordinator& operator=(Coordinator&&) = default;
  ~Coordinator() = default;

  std::vector<Send> step(Event const& event, Time now);

  // When the next Tick is due, if nothing else happens before.
  std::optional<Time> next_tick() const;

  int programs() const noexcept { return static_cast<int>(programs_.size()); }
  int leases() const noexcept { return static_cast<int>(leases_.size()); }
  int waiting() const noexcept { return static_cast<int>(waiting_); }
  policy::PositionSet const& free() const noexcept { return free_; }
  policy::CoreMap const& machine() const noexcept { return machine_; }
  CpuSet held_by(Connection connection) const;  // by leases
  // Programs that hold cpus, each with its user; twice where it has two leases.
  std::vector<std::pair<std::uint32_t, Connection>> holders() const;
  // Pairs of leases of users that hold more than their part, and users that they keep from theirs:
  // those want cpus, hold less than their part, and do not back off. True: the lease is asked back.
  std::map<std::pair<LeaseId, std::uint32_t>, bool> leases_beyond_parts() const;
  // The user wants cpus, holds less than its part of them and less than it wants, and does not back
  // off.
  bool lacks_its_part(std::uint32_t user) const;
  bool backs_off(std::uint32_t user) const;

  // The present knowledge of a program's regions, and from how many reports. Nothing for a program
  // that has not come, or has left.
  std::vector<KnownRegion> known_regions(Connection connection) const;
  std::uint64_t reports(Connection connection) const;

  // Of all programs by number, after the last step; the last entry is for the host alone.
  std::vector<Status> statuses() const;

  // Aborts if a cpu has two leases or a lost one, a lease no living owner, or a program waits
  // without reason. Debug builds check after every step.
  void check() const;

 private:
  void happen(Received const& e);
  void happen(Lost const& e);
  void happen(Tick const&) {}
  void happen(Load const& e);
  void happen(Energy const& e);
  void happen(Known const& e);
  void happen(Bound const& e);
  void happen(Allowed const& e);
  void take(Connection from, Register const& m, Received const& e);
  void take(Connection from, Request const& m);
  void take(Connection from, Claim const& m);
  void take(Connection from, Release const& m);
  void take(Connection from, Report const& m);
  void take(Connection from, Query const& m);

  void point_to_own();
  void send(Connection to, CoordinatorMessage message);
  void refuse(Connection to, Refusal::Reason why, Ticket ticket = 0);
  void send_advice(Connection to, Regions& regions);
  bool has_room_for(Connection from, Ticket ticket, bool gives_one_back);
  bool give_back(Connection from, LeaseId id);

  // serve.cpp: which requests get which cpus
  void expire();
  void serve();
  policy::CoreDecision decide_for(Waiting const& request, policy::PositionSet const& kept,
                                  int waiting_behind) const;
  void grant(Waiting const& request, policy::CoreDecision const& decision);
  bool serve_line();
  void ask_if_idle(Lease& lease, LeaseId id);
  void revoke(Lease& lease, LeaseId id, Revoke::Reason why);
  Leases::iterator end(Leases::iterator lease);
  void make_room();
  bool may_take(Program const& asker, Lease const& lease) const noexcept;
  bool is_taken_for_anybody(Lease const& lease) const;
  bool may_use_what_is_idle() const;
  bool is_due(Lease const& lease) const;
  bool is_overdue_for_another_user(Lease const& lease) const;
  bool keeps_from_its_part(Lease const& lease, Program const& asker) const;
  void end_and_back_off(LeaseId id, Lease& lease);
  void offer_more();
  bool has_few(Lease const& lease) const noexcept {
    return !lease.revoked && lease.size < lease.demand.maximum;
  }
  void look_for_resting();
  // Without cpus that others want.
  bool is_larger_by_now(Lease const& lease, policy::PositionSet const& wanted) const;

  // line.cpp: the order of requests
  Kind kind_of(Program const& program) const;
  void stand_behind(Waiting request);
  void give_a_turn(Program& program);
  void call(User& user);
  Program* next_in_turn(User& user);
  void come_forward();
  void line_up(Waiting request);
  void leave_line(Waiting const& request);
  void stop_waiting(Waiting const& request);
  void order_line();
  int precedence(Program const& program) const noexcept;
  void note_first();
  void note_activity(User const& user);
  std::optional<Time> expected_until(User const& but_for) const;
  int room_while_backing_off(User const& user) const;
  void recount(Program& program);
  void check_line() const;
  void forget_users_without_programs();

  // want.cpp: programs that got no cpus in time
  void give_up();
  void run_unplaced(Waiting const& request, int want_cpus);
  void give_up(Connection whose, Ticket ticket);
  void come_into_want(Program& program, int want_cpus);
  void leave_want(Program& program);
  void forget_old_wants();
  void set_slice();
  bool is_in_want(Program const& program) const noexcept { return now_ < program.want_until; }
  bool anybody_in_want() const noexcept { return !in_want_.empty(); }
  void expect_again(Program& owner);
  void come_back(Program& owner);
  void leave_returning(Program& owner);
  void forget_old_returns();
  bool is_returning(Program const& p) const noexcept {
    return p.returning > 0 && now_ < p.returning_until;
  }
  bool anybody_returns() const noexcept { return !returning_.empty(); }
  int expected_beside(Program const& owner) const;
  static Program* one_too_many(std::vector<Program*> const& programs);
  int lacking_in_want(Program const& program) const;
  int lacking_in_want() const;
  policy::PositionSet wanted_by_the_patient() const;
  bool has_waited_longer(User const& one, User const& other) const;
  bool is_kept_for(Program const& program, Waiting const& request) const;
  bool is_anything_kept_from(Waiting const& request) const;
  policy::PositionSet kept_from(Waiting const& request, policy::PositionSet available) const;
  int in_want_beside(Waiting const& request, policy::PositionSet const& available) const;
  policy::PositionSet wanted_by_all() const;
  int equal_part(Program const& program) const;
  bool has_its_part(User const& user) const noexcept {
    return policy::has_its_part(user.held, machine_.size(), competing_users_);
  }
  int attainable(Program const& program) const;
  int part_of_a_leader(Program const& program) const;
  bool is_above_its_part(Lease const& lease) const;
  int leaders_of(Program const& program) const;
  int place_of(Program const& program, int leaders_cpu) const;
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

  // quotas.cpp: limits on what programs may have
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
  using LeasesOfOne = std::vector<Lease const*>;  // of a program, the newest last
  Status status(std::uint32_t number) const;
  Status status_of_host() const;
  void describe(Connection whom, LeasesOfOne const& leases, Status& in) const;
  void add_cpus(Lease const& lease, CpuSet& to) const;
};

}  // namespace nigh::coordinator
