// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must be true whatever happens. The core's own check() is called as well.

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "simulation/host.hpp"
#include "simulation/member.hpp"

namespace simulation {

class Invariants {
 public:
  explicit Invariants(Host const& host) : host_(host) {}

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
  Time longest_asking() const noexcept { return longest_asking_; }
  Time longest_beyond() const noexcept { return longest_beyond_; }

  // After each step.
  void check();

 private:
  bool is_exclusive(Member const& member) const;
  void check_calls() const;
  void check_holdings();
  void check_server() const;
  void check_shares();
  void compare(Member const& first, bool is_settled);

  Host const& host_;
  std::vector<Member*> members_;
  std::array<std::vector<Member*>, most_cpus> inside_;  // by cpu
  std::size_t next_ = 0;
  // Of leases that keep users from their part: since when, and how late the server was then.
  struct Beyond {
    Time since = 0;
    std::int64_t lag_then = 0;
  };
  std::map<std::pair<nigh::coordinator::LeaseId, unsigned>, Beyond> beyond_;
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
  Time longest_asking_ = 0;
  Time longest_beyond_ = 0;
};

}  // namespace simulation
