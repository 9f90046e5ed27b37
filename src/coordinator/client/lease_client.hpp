// SPDX-License-Identifier: Apache-2.0
#pragma once
// One for each thread that begins parallel regions; used by that thread alone.
//
//   LeaseClient master(program);
//   auto const team = master.enter(region, demand);    as long as a lease holds: no message
//   ...                                                 team.size threads on team.cpus
//   master.leave(duration_ns);

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/atomic.hpp"
#include "coordinator/client/connection.hpp"
#include "coordinator/client/fallback_reason.hpp"
#include "coordinator/client/handover.hpp"
#include "policy/lease_patience.hpp"

namespace nigh::coordinator {

class LeaseClient {
 public:
  explicit LeaseClient(ClientConnection& program) noexcept;
  ~LeaseClient();  // gives its lease back
  LeaseClient(LeaseClient const&) = delete;
  LeaseClient& operator=(LeaseClient const&) = delete;

  struct Team {
    std::uint16_t const* cpus = nullptr;  // the master's first, in the order of the threads
    std::uint32_t size = 0;               // 0: run as without a coordinator
    std::uint32_t version = 0;            // changes when cpus do: pin again only then
    bool is_to_be_timed = false;          // leave() had better be told how long it took
    bool floats = false;  // had better not be bound to its cpus: others' programs are there, too
    FallbackReason fallback = FallbackReason::none;  // with size 0: why
  };

  // Waits for cpus if there are none for it, for a moment (policy/lease_patience.hpp) or as long as
  // it takes (ConnectionOptions::waits_briefly). A lease serves all regions of its thread: one that
  // can use fewer threads, as `demand` or the coordinator says, gets the first of its cpus; for one
  // that can use more than was asked for, it is changed for another.
  Team enter(RegionId region, Demand demand) noexcept {
    region_ = region;
    if (lease_ != 0 && link_ == program_.link()) {
      auto const advice = program_.advice(region);
      if (suits(most(demand, advice)) && program_.word(slot_).enter(lease_)) {
        is_inside_ = true;
        return team_for(demand, advice);
      }
    }
    return enter_by_message(demand);
  }

  // For one who is in a region all the time, so to say, and hears of a lease that is asked for
  // (ConnectionOptions::listens): what it holds goes back with the message that asks for another.
  Team exchange(RegionId region, Demand demand) noexcept {
    is_inside_ = false;
    region_ = region;
    return enter_by_message(demand);
  }
  void give_back() noexcept;
  // A lease that came over the connection that there is now.
  bool holds() const noexcept { return lease_ != 0 && link_ == program_.link(); }
  // While neither of the others is under way, by any thread, one at a time: the lease is of no use
  // for a while; it is again. False if it is asked for, or gone.
  bool pause() noexcept { return holds() && program_.word(slot_).pause(lease_); }
  bool resume() noexcept { return holds() && program_.word(slot_).enter(lease_); }
  bool is_kept() const noexcept { return holds() && program_.word(slot_).is_kept(lease_); }

  void leave(std::uint64_t duration_ns) noexcept {
    if (!is_inside_) return;
    is_inside_ = false;
    duration_ns_ = duration_ns;
    unreported_ns_ += duration_ns;
    auto const left =
        link_ == program_.link() ? program_.word(slot_).leave(lease_) : LeaseWord::Left::lost;
    if (left != LeaseWord::Left::kept || unreported_ns_ >= report_at_ns_ || region_ == due_)
      leave_by_message(left);
  }

 private:
  friend class ClientConnection;
  static constexpr RegionId no_region = ~RegionId{0};

  // Threads that the region could use.
  static std::uint32_t most(Demand demand, RegionWord advice) noexcept {
    auto const told = demand.maximum > 0 ? demand.maximum : max_cpus;
    if (demand.is_known() || advice.maximum() == 0) return told;
    // A trial may be one with more threads than that.
    return std::min<std::uint32_t>(told, std::max(advice.maximum(), advice.size()));
  }
  // It could use no more than the lease has, or would not have been given more.
  bool suits(std::uint32_t most) const noexcept { return most <= size_ || most <= asked_; }
  Team team_for(Demand demand, RegionWord advice) noexcept {
    auto const can = demand.maximum > 0 ? std::min(demand.maximum, size_) : size_;
    size_now_ = can;
    if (!demand.is_known()) {
      if (advice.is_limited()) size_now_ = std::min(can, advice.maximum());
      if (advice.trial() != 0) return team_of_trial(advice, can);
    }
    return {cpus_.data(), size_now_, version_, region_ == due_, floats_, FallbackReason::none};
  }
  Team team_of_trial(RegionWord advice, std::uint32_t can) noexcept;
  Team enter_by_message(Demand demand) noexcept;
  Team none(FallbackReason why) const noexcept { return {nullptr, 0, 0, false, false, why}; }
  void leave_by_message(LeaseWord::Left left) noexcept;
  void report(std::uint32_t trial) noexcept;
  bool is_reported_of_trial() noexcept;
  bool ask(ProgramMessage const& message, std::int64_t patience) noexcept;
  bool claim(Demand demand) noexcept;
  bool request(Demand demand) noexcept;
  void take(Grant const& grant) noexcept;
  bool forget_word() noexcept;

  ClientConnection& program_;
  // of the lease
  LeaseId lease_ = 0;       // 0: none
  std::uint32_t link_ = 0;  // over which it came
  std::uint32_t slot_ = lease_slots;
  std::uint32_t size_ = 0;
  std::uint32_t asked_ = 0;  // for it
  std::uint32_t version_ = 0;
  bool floats_ = false;
  // of the region
  bool is_inside_ = false;
  RegionId region_ = 0;
  std::uint32_t size_now_ = 0;
  std::uint64_t duration_ns_ = 0;
  std::uint64_t unreported_ns_ = 0;
  std::uint64_t report_at_ns_ = Report::every_ns;  // 0: at once, for it is part of a trial
  // Whose next run is to be reported: of the region that each 100 ms end in, so that all come as
  // often as they are long, but not that run, for runs that were disturbed are longer.
  RegionId due_ = no_region;
  // The trial under way, and how many runs of it there were.
  RegionWord trial_{};
  std::uint32_t trial_runs_ = 0;
  std::uint32_t usual_size_ = 0;
  std::uint64_t usual_ns_ = 0;  // of its last run with the usual team; 0: not known

  Handover answer_;
  policy::LeasePatience patience_;
  FallbackReason why_none_ = FallbackReason::none;  // the last request got
  Ticket ticket_ = 0;
  std::int64_t ask_again_ = 0;
  std::array<std::uint16_t, max_cpus> cpus_{};
};

}  // namespace nigh::coordinator
