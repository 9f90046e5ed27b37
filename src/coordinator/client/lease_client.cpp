// SPDX-License-Identifier: Apache-2.0
#include "coordinator/client/lease_client.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/clock.hpp"
#include "coordinator/protocol/trial_runs.hpp"
#include "platform/affinity.hpp"

namespace nigh::coordinator {
namespace {

constexpr std::int64_t refused_for_us = 1'000'000;
constexpr std::int64_t claims_within_us = 100'000;  // by a coordinator that has just started

GrantedTeam none(FallbackReason why) noexcept { return {.fallback = why}; }

}  // namespace

LeaseClient::LeaseClient(ClientConnection& connection) noexcept : connection_(connection) {}

LeaseClient::~LeaseClient() {
  give_back();
  connection_.detach(request_);
}

GrantedTeam LeaseClient::enter(RegionId region, Demand demand) noexcept {
  region_ = region;
  if (lease_ != 0 && link_ == connection_.link()) {
    auto const advice = connection_.advice(region);
    if (suits(most(demand, advice.word())) && word().enter(lease_)) {
      is_inside_ = true;
      return team_for(demand, advice);
    }
  }
  return enter_by_message(demand, as_long_as_usual);
}

// A run of a trial may have another team than the next one.
LeaseClient::Entered LeaseClient::entered() const noexcept {
  Entered now;
  if (!is_inside_ || advice_.word().trial() != 0) return now;
  now.lease_ = lease_;
  now.link_ = link_;
  now.size_ = size_now_;
  now.region_ = region_;
  now.advice_ = advice_;
  return now;
}

void LeaseClient::leave(std::uint64_t duration_ns) noexcept {
  if (!is_inside_) return;
  is_inside_ = false;
  duration_ns_ = duration_ns;
  unreported_ns_ += duration_ns;
  auto const left = link_ == connection_.link() ? word().leave(lease_) : LeaseWord::Left::lost;
  if (left != LeaseWord::Left::kept || unreported_ns_ >= report_at_ns_ || region_ == due_)
    leave_by_message(left);
}

GrantedTeam LeaseClient::exchange(RegionId region, Demand demand,
                                  std::int64_t at_most_us) noexcept {
  is_inside_ = false;
  region_ = region;
  return enter_by_message(demand, at_most_us);
}

void LeaseClient::give_back() noexcept {
  if (forget_word()) connection_.release(lease_);
  lease_ = 0;
}

// True if the lease must now be released by message, whether a region uses it or not.
bool LeaseClient::forget_word() noexcept {
  return holds() && (word().give_back(lease_) || word().decline(lease_));
}

// Threads that the region could use.
std::uint32_t LeaseClient::most(Demand demand, RegionWord advice) noexcept {
  auto const told = demand.maximum > 0 ? demand.maximum : max_cpus;
  if (demand.is_known() || advice.maximum() == 0) return told;
  // A trial may use more threads than that.
  return std::min<std::uint32_t>(told, std::max(advice.maximum(), advice.size()));
}

// The region could use no more than the lease has, or would not have been granted more.
bool LeaseClient::suits(std::uint32_t most) const noexcept {
  return most <= team_.size || most <= asked_;
}

// The cpus that the region uses now, of those of the lease.
GrantedTeam LeaseClient::part(bool is_to_be_timed) const noexcept {
  return {cpus_[now_].data(), size_now_,    team_.version,
          is_to_be_timed,     team_.floats, FallbackReason::none};
}

GrantedTeam LeaseClient::team_for(Demand demand, RegionWords::Seen seen) noexcept {
  advice_ = seen;
  auto const advice = seen.word();
  auto const can = demand.maximum > 0 ? std::min(demand.maximum, team_.size) : team_.size;
  size_now_ = can;
  if (!demand.is_known()) {
    if (advice.is_limited()) size_now_ = std::min(can, advice.maximum());
    if (advice.trial() != 0) return team_of_trial(advice, can);
  }
  return part(region_ == due_);
}

// The coordinator tries out one region at a time; here each trial ends by itself, even if its
// reports are lost.
GrantedTeam LeaseClient::team_of_trial(RegionWord advice, std::uint32_t can) noexcept {
  if (advice != trial_) {
    trial_ = advice;
    trial_runs_ = 0;
    usual_size_ = size_now_;
    usual_ns_ = 0;
  }
  if (trial_runs_ >= TrialRuns::count) return part(false);
  auto const run = trial_runs_++;
  if (TrialRuns::has_its_team(run)) size_now_ = std::min(can, advice.size());
  bool const is_timed = TrialRuns::is_reported(run) || TrialRuns::has_its_team(run);
  if (is_timed) report_at_ns_ = 0;
  return part(is_timed);
}

// About the run that has just ended. A run with the trial's team that takes too long is reported,
// and is the trial's last.
bool LeaseClient::is_reported_of_trial() noexcept {
  auto const run = trial_runs_ - 1;
  if (!TrialRuns::has_its_team(run)) {
    usual_ns_ = duration_ns_;
  } else if (usual_ns_ > 0 &&
             TrialRuns::takes_too_long(static_cast<double>(duration_ns_), size_now_,
                                       static_cast<double>(usual_ns_), usual_size_)) {
    trial_runs_ = TrialRuns::count;
    return true;
  }
  return TrialRuns::is_reported(run);
}

GrantedTeam LeaseClient::enter_by_message(Demand demand, std::int64_t at_most_us) noexcept {
  bool const may_ask = ask_again_ == 0 || ask_again_ <= base::now_us();
  if (!may_ask) return none(FallbackReason::refused);
  if (!connection_.rejoin()) {
    if (connection_.found_foreign()) return none(FallbackReason::foreign_version);
    return none(link_ == 0 ? FallbackReason::no_coordinator : FallbackReason::no_answer);
  }
  if (!connection_.attach(request_)) return none(FallbackReason::too_many_threads);
  if (!demand.is_valid()) return none(FallbackReason::refused);
  ask_again_ = 0;
  bool const is_from_before =
      lease_ != 0 && link_ != connection_.link() && connection_.is_own(link_);
  if ((is_from_before && claim(demand)) || request(demand, at_most_us)) {
    is_inside_ = true;
    return team_for(demand, connection_.advice(region_));
  }
  lease_ = 0;
  return none(why_none_);
}

// Tells a coordinator that may have just started which cpus this thread had from the one before.
bool LeaseClient::claim(Demand demand) noexcept {
  Claim claim{.region = region_, .ticket = 0, .demand = demand, .team = {}};
  for (std::uint32_t i = 0; i < team_.size; ++i) claim.team.add(cpus_[now_][i]);
  lease_ = 0;
  asked_ = most(demand, connection_.advice(region_).word());
  request_.next();
  claim.ticket = request_.ticket;
  return ask(claim, connection_.waits_briefly() ? claims_within_us : 0);
}

bool LeaseClient::request(Demand demand, std::int64_t at_most_us) noexcept {
  std::int64_t patience = 0;
  if (connection_.waits_briefly()) {
    auto const now = base::now_us();
    why_none_ = FallbackReason::no_answer;
    bool const is_silent = connection_.is_silent(now);
    if (!is_silent) why_none_ = FallbackReason::unplaced;
    patience = is_silent ? policy::LeasePatience::not_now : std::min(patience_.at(now), at_most_us);
    if (is_new_) patience = std::min(patience, connection_.patience_of_new_thread(now));
    if (patience == policy::LeasePatience::not_now) return give_back(), false;
  }
  bool const returns = forget_word();
  auto const held = std::exchange(lease_, 0);
  int const cpu = platform::current_cpu();
  asked_ = most(demand, connection_.advice(region_).word());
  request_.next();
  return ask(
      Request{.region = region_,
              .ticket = request_.ticket,
              .demand = demand,
              .place = 0 <= cpu && cpu < max_cpus ? static_cast<std::uint32_t>(cpu) : unknown_place,
              .returned = returns ? held : 0,
              .patience_us = static_cast<std::uint32_t>(patience)},
      patience);
}

// The patience that the coordinator is told.
bool LeaseClient::ask(ProgramMessage const& message, std::int64_t patience) noexcept {
  why_none_ = FallbackReason::no_answer;
  auto const link = connection_.link();
  if (link == 0) return false;
  auto const began = patience == 0 ? 0 : base::now_us();
  auto const answer = connection_.ask(request_, message, link, patience);
  link_ = link;
  bool const is_granted = answer == Handover::Is::granted;
  if (patience != 0 && (is_new_ || !is_granted)) {
    auto const now = base::now_us();
    auto const waited = now - began;
    bool const is_at_once = is_granted && waited < policy::LeasePatiencePolicy{}.shortest_us;
    if (std::exchange(is_new_, false) && !is_at_once)
      connection_.new_thread_has_waited(waited, now);
    if (!is_granted) patience_.spend(waited, now);
  }
  if (is_granted) {
    take(request_.grant);
    return true;
  }
  if (answer == Handover::Is::unplaced) why_none_ = FallbackReason::unplaced;
  if (answer == Handover::Is::refused && std::holds_alternative<Request>(message)) {
    ask_again_ = base::now_us() + refused_for_us;
    why_none_ = FallbackReason::refused;
  }
  return false;
}

void LeaseClient::take(Grant const& grant) noexcept {
  auto const size = static_cast<std::uint32_t>(grant.team.size());
  bool same = size == team_.size && team_.version > 0;
  auto const& before = cpus_[now_];
  now_ = 1 - now_;
  for (std::uint32_t i = 0; i < size; ++i) {
    auto const cpu = static_cast<std::uint16_t>(grant.team[static_cast<int>(i)]);
    same = same && before[i] == cpu;
    cpus_[now_][i] = cpu;
  }
  if (!same) ++team_.version;
  if (team_.floats != (grant.floats != 0)) ++team_.version;
  team_.floats = grant.floats != 0;
  team_.size = size;
  lease_ = grant.lease;
  unreported_ns_ = 0;
}

void LeaseClient::report(std::uint32_t trial) noexcept {
  if (duration_ns_ == 0 || duration_ns_ > INT64_MAX) return;  // it was not timed
  connection_.send(Report{region_, size_now_, duration_ns_, trial});
  if (trial == 0 && region_ == due_) due_ = no_region;
}

void LeaseClient::leave_by_message(LeaseWord::Left left) noexcept {
  bool const is_of_trial =
      std::exchange(report_at_ns_, Report::every_ns) == 0 && is_reported_of_trial();
  if (link_ != connection_.link()) return;  // the lease is remembered, to be claimed
  bool const is_long = duration_ns_ >= Report::every_ns;
  if (is_of_trial || is_long || region_ == due_) report(is_of_trial ? trial_.trial() : 0);
  if (unreported_ns_ >= Report::every_ns) {
    unreported_ns_ = 0;
    if (!is_long) due_ = region_;
    connection_.look();
  }
  if (left == LeaseWord::Left::asked) connection_.release(lease_);
  if (left != LeaseWord::Left::kept) lease_ = 0;
}

}  // namespace nigh::coordinator
