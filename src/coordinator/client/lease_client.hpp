// SPDX-License-Identifier: Apache-2.0
#pragma once
// The leases of one thread that begins parallel regions; used by that thread alone.
//
//   LeaseClient client(connection);
//   auto const team = client.enter(region, demand);    as long as a lease holds: no message
//   ...                                                 team.size threads on team.cpus
//   client.leave(duration_ns);
//
// A kept lease costs two compare-exchanges in the shared page (protocol/lease_word.hpp). All else
// goes by message, over the process's ClientConnection. tests/openmp/scripted_leases.cpp puts a
// script in place of lease_client.cpp.

#include <array>
#include <cstdint>
#include <limits>

#include "coordinator/client/connection.hpp"
#include "coordinator/client/granted_team.hpp"
#include "coordinator/client/handover.hpp"
#include "policy/cpus/lease_patience.hpp"

namespace nigh::coordinator {

class LeaseClient {
 public:
  explicit LeaseClient(ClientConnection& connection) noexcept;
  ~LeaseClient();  // gives its lease back
  LeaseClient(LeaseClient const&) = delete;
  LeaseClient& operator=(LeaseClient const&) = delete;

  // Waits for cpus if none are free for it: for a moment (policy/cpus/lease_patience.hpp), or as
  // long as it takes (ConnectionOptions::waits_briefly). A lease serves all regions of its thread:
  // a region that can use fewer threads, as `demand` or the coordinator says, gets the first of its
  // cpus; for a region that can use more than was asked for, the lease is exchanged.
  GrantedTeam enter(RegionId region, Demand demand) noexcept;

  // The region that enter() has begun, so that the next one of the same number and demand begins in
  // a few instructions, with the same team. A default one is of no region.
  class Entered {
   public:
    Entered() = default;
    std::uint32_t size() const noexcept { return size_; }  // of the team

   private:
    friend class LeaseClient;
    LeaseId lease_ = 0;
    std::uint32_t link_ = 0;  // over which it came
    std::uint32_t size_ = 0;
    RegionId region_ = 0;
    RegionWords::Seen advice_;
  };
  Entered entered() const noexcept;
  // False: the lease, or what the coordinator advises, has changed since; enter() follows.
  bool enter_again(Entered const& before) noexcept {
    bool const is_same = before.lease_ != 0 && before.lease_ == lease_ && before.link_ == link_ &&
                         link_ == connection_.link() && before.region_ != due_ &&
                         before.advice_.is_unchanged();
    if (!is_same || !word().enter(lease_)) return false;
    region_ = before.region_;
    size_now_ = before.size_;
    is_inside_ = true;
    return true;
  }

  void leave(std::uint64_t duration_ns) noexcept;
  // leave(0) where that takes no message; otherwise false, and it follows.
  bool leave_untold() noexcept {
    bool const has_news =
        link_ != connection_.link() || unreported_ns_ >= report_at_ns_ || region_ == due_;
    if (!is_inside_ || has_news || !word().pause(lease_)) return false;
    is_inside_ = false;
    duration_ns_ = 0;
    return true;
  }

  // Inside a region, or for a runtime, which is always in one, so to speak: its lease goes back
  // with the message that asks for another. Where enter() waits for a moment, this waits no longer
  // than `at_most_us`.
  static constexpr std::int64_t as_long_as_usual = std::numeric_limits<std::int64_t>::max();
  GrantedTeam exchange(RegionId region, Demand demand,
                       std::int64_t at_most_us = as_long_as_usual) noexcept;
  void give_back() noexcept;
  // The lease came over the present connection.
  bool holds() const noexcept { return lease_ != 0 && link_ == connection_.link(); }
  // From any thread, one at a time, while neither enter() nor exchange() is under way: the lease is
  // unused from pause() to resume(). False if it is asked for, or gone.
  bool pause() noexcept { return holds() && word().pause(lease_); }
  bool resume() noexcept { return holds() && word().enter(lease_); }
  bool is_kept() const noexcept { return holds() && word().is_kept(lease_); }
  // Inside a region: the coordinator asks for its cpus, or has given them to others by now.
  bool is_asked_for() const noexcept { return is_inside_ && holds() && !word().is_kept(lease_); }

  // Of all threads' regions together.
  void tell_tasks(std::uint64_t made, std::uint64_t stolen) noexcept {
    connection_.tell_tasks(made, stolen);
  }

 private:
  static constexpr RegionId no_region = ~RegionId{0};

  LeaseWord& word() const noexcept { return connection_.word(request_.slot); }
  static std::uint32_t most(Demand demand, RegionWord advice) noexcept;
  bool suits(std::uint32_t most) const noexcept;
  GrantedTeam team_for(Demand demand, RegionWords::Seen advice) noexcept;
  GrantedTeam team_of_trial(RegionWord advice, std::uint32_t can) noexcept;
  GrantedTeam part(bool is_to_be_timed) const noexcept;
  // Not inlined: they save many registers, which each region would pay for.
  [[gnu::noinline]] GrantedTeam enter_by_message(Demand demand, std::int64_t at_most_us) noexcept;
  [[gnu::noinline]] void leave_by_message(LeaseWord::Left left) noexcept;
  void report(std::uint32_t trial) noexcept;
  bool is_reported_of_trial() noexcept;
  bool ask(ProgramMessage const& message, std::int64_t patience) noexcept;
  bool claim(Demand demand) noexcept;
  bool request(Demand demand, std::int64_t at_most_us) noexcept;
  void take(Grant const& grant) noexcept;
  bool forget_word() noexcept;

  ClientConnection& connection_;
  // of the lease
  LeaseId lease_ = 0;        // 0: none
  std::uint32_t link_ = 0;   // over which it came
  GrantedTeam team_{};       // all of the lease; remembered when the connection is lost
  std::uint32_t asked_ = 0;  // for it
  // of the region
  bool is_inside_ = false;
  RegionId region_ = 0;
  RegionWords::Seen advice_;  // for it, when it began
  std::uint32_t size_now_ = 0;
  std::uint64_t duration_ns_ = 0;
  std::uint64_t unreported_ns_ = 0;
  std::uint64_t report_at_ns_ = Report::every_ns;  // 0: at once, for it is part of a trial
  // The region whose next run is reported. Each 100 ms end in some region, so every region is
  // reported in proportion to its time; the run in which they end is not reported, for disturbed
  // runs are longer.
  RegionId due_ = no_region;
  // The trial under way, and how many of its runs there were.
  RegionWord trial_{};
  std::uint32_t trial_runs_ = 0;
  std::uint32_t usual_size_ = 0;
  std::uint64_t usual_ns_ = 0;  // of its last run with the usual team; 0: not known

  PendingRequest request_;
  policy::LeasePatience patience_;
  bool is_new_ = true;                              // has not asked for cpus yet
  FallbackReason why_none_ = FallbackReason::none;  // the last request got no cpus
  std::int64_t ask_again_ = 0;
  // Those of the lease, and of the one before: threads of the region may still look at these.
  std::array<std::array<std::uint16_t, max_cpus>, 2> cpus_{};
  std::uint32_t now_ = 0;  // which of them
};

}  // namespace nigh::coordinator
