// SPDX-License-Identifier: Apache-2.0
#pragma once
// The statements that must be true whatever happens. The core's own check() is called as well.

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/host.hpp"
#include "simulation/member.hpp"

namespace simulation {

class Invariants {
 public:
  // `besieged`: this user has nobody beside it but one hostile user, and its programs may use all
  // cpus.
  Invariants(Host const& host, std::optional<unsigned> besieged)
      : host_(host), besieged_(besieged) {}

  void add(Member& member) { members_.push_back(&member); }
  void remove(Member& member);

  // The member has entered a region, and its cpus are noted. Its lease cannot have been asked for
  // before that time.
  void begin_region(Member& member, Time not_asked_before);
  void end_region(Member& member);

  // Within so long, and what the host holds the process up for meanwhile, this task is to
  // end_call().
  void begin_call(Time within);
  void end_call();
  // How long one may wait that waits for ever, when so many requests are in front of it.
  Time longest_wait(int in_front) const;

  // The program's user asked for cpus, and got some, or got none. For how long users go on asking
  // without any is measured, and is no fault yet.
  void granted(Process const& process) { asking_.erase(process.user); }
  void denied(Process const& process, Time asked);
  // A region of a besieged user that limits its wait has waited for so long, of which the host has
  // held the program and the server up for `lag` at most.
  void waited(Time took, Time lag);

  // The longest times of what the checks bound, less what the host held the server up for.
  struct Longest {
    Time asking = 0;      // a user, without any cpu
    Time beyond = 0;      // a lease beyond its user's part
    Time unasked = 0;     // the same, before it was asked back
    Time waiting = 0;     // a region of a besieged user
    Time below_part = 0;  // a besieged user
  };
  Longest const& longest() const noexcept { return longest_; }

  // After each step.
  void check();

 private:
  bool is_exclusive(Member const& member) const;
  void check_calls() const;
  void check_holdings();
  void check_server() const;
  void check_shares();
  void check_besieged();
  void compare(Member const& first, bool is_settled);

  Host const& host_;
  std::vector<Member*> members_;
  std::array<std::vector<Member*>, most_cpus> inside_;  // by cpu
  std::size_t next_ = 0;
  struct Since {
    Time at = 0;
    std::int64_t lag_then = 0;  // how late the server was
  };
  static Since begin_now();
  static Time time_since(Since const& since);

  // Leases that keep users from their part, and users for which none of these is asked back.
  std::map<std::pair<nigh::coordinator::LeaseId, unsigned>, Since> beyond_;
  std::map<unsigned, Since> unasked_;
  std::optional<unsigned> besieged_;
  std::optional<Since> below_part_{};  // the besieged user
  std::uint64_t life_ = 0;
  // Users that go on asking for cpus and get none: since when, when they asked last, and how late
  // the server was at first.
  struct Asking {
    Time since = 0;
    Time last = 0;
    std::int64_t lag_then = 0;
    std::uint64_t life = 0;
  };
  static constexpr Time asks_on_within = 200'000;
  std::map<unsigned, Asking> asking_;
  Longest longest_;
};

}  // namespace simulation
