// SPDX-License-Identifier: Apache-2.0
#include "coordinator/client/lease_client.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coordinator/protocol/trial_runs.hpp"
#include "platform/affinity.hpp"

namespace nigh::coordinator {
namespace {

constexpr std::int64_t refused_for_us = 1'000'000;
constexpr std::int64_t claims_within_us = 100'000;  // by a coordinator that has just started

std::int64_t now_us() noexcept {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

LeaseClient::LeaseClient(ClientConnection& program) noexcept : program_(program) {}

LeaseClient::~LeaseClient() {
  give_back();
  program_.detach(*this);
}

void LeaseClient::give_back() noexcept {
  if (forget_word()) program_.release(lease_);
  lease_ = 0;
}

// True if the lease is now to be released by message, whether a region is in it or not.
bool LeaseClient::forget_word() noexcept {
  return holds() &&
         (program_.word(slot_).give_back(lease_) || program_.word(slot_).decline(lease_));
}

LeaseClient::Team LeaseClient::enter_by_message(Demand demand) noexcept {
  bool const may_ask = ask_again_ == 0 || ask_again_ <= now_us();
  if (!may_ask) return none(FallbackReason::refused);
  if (!program_.rejoin()) {
    if (program_.found_foreign()) return none(FallbackReason::foreign_version);
    return none(link_ == 0 ? FallbackReason::no_coordinator : FallbackReason::no_answer);
  }
  if (!program_.attach(*this)) return none(FallbackReason::too_many_threads);
  if (!demand.is_valid()) return none(FallbackReason::refused);
  ask_again_ = 0;
  bool const is_from_before =
      lease_ != 0 && link_ != program_.link() && link_ > program_.forgotten_links_;
  if ((is_from_before && claim(demand)) || request(demand)) {
    is_inside_ = true;
    return team_for(demand, program_.advice(region_));
  }
  lease_ = 0;
  return none(why_none_);
}

// The coordinator tries out one region at a time; here each trial ends by itself, whatever becomes
// of its reports.
LeaseClient::Team LeaseClient::team_of_trial(RegionWord advice, std::uint32_t can) noexcept {
  if (advice != trial_) {
    trial_ = advice;
    trial_runs_ = 0;
    usual_size_ = size_now_;
    usual_ns_ = 0;
  }
  if (trial_runs_ >= TrialRuns::count)
    return {cpus_.data(), size_now_, version_, false, floats_, FallbackReason::none};
  auto const run = trial_runs_++;
  if (TrialRuns::has_its_team(run)) size_now_ = std::min(can, advice.size());
  bool const is_timed = TrialRuns::is_reported(run) || TrialRuns::has_its_team(run);
  if (is_timed) report_at_ns_ = 0;
  return {cpus_.data(), size_now_, version_, is_timed, floats_, FallbackReason::none};
}

// Of the run that has just ended. One with the trial's team that takes too long is reported, and
// the trial's last.
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

// To a coordinator that may have just started: what we had from the one before.
bool LeaseClient::claim(Demand demand) noexcept {
  Claim claim{.region = region_, .ticket = 0, .demand = demand, .team = {}};
  for (std::uint32_t i = 0; i < size_; ++i) claim.team.add(cpus_[i]);
  lease_ = 0;
  asked_ = most(demand, program_.advice(region_));
  claim.ticket = ticket_ += lease_slots;
  return ask(claim, program_.waits_briefly_ ? claims_within_us : 0);
}

bool LeaseClient::request(Demand demand) noexcept {
  std::int64_t patience = 0;
  if (program_.waits_briefly_) {
    auto const now = now_us();
    why_none_ = FallbackReason::no_answer;
    bool const is_silent = program_.is_silent(now);
    if (!is_silent) why_none_ = FallbackReason::unplaced;
    patience = is_silent ? policy::LeasePatience::not_now : patience_.at(now);
    if (patience == policy::LeasePatience::not_now) return give_back(), false;
  }
  bool const returns = forget_word();
  auto const held = std::exchange(lease_, 0);
  int const cpu = platform::current_cpu();
  asked_ = most(demand, program_.advice(region_));
  return ask(
      Request{.region = region_,
              .ticket = ticket_ += lease_slots,
              .demand = demand,
              .place = 0 <= cpu && cpu < max_cpus ? static_cast<std::uint32_t>(cpu) : unknown_place,
              .returned = returns ? held : 0,
              .patience_us = static_cast<std::uint32_t>(patience)},
      patience);
}

// Patience as the coordinator is told.
bool LeaseClient::ask(ProgramMessage const& message, std::int64_t patience) noexcept {
  why_none_ = FallbackReason::no_answer;
  auto const link = program_.link();
  if (link == 0) return false;
  auto const began = patience == 0 ? 0 : now_us();
  answer_.await(ticket_);
  program_.send_and_wait(*this, message, link, patience);
  auto const answer = answer_.end(ticket_);
  link_ = link;
  if (answer == Handover::Is::granted) return true;
  if (patience != 0) {
    auto const now = now_us();
    patience_.spend(now - began, now);
  }
  if (answer == Handover::Is::unplaced) why_none_ = FallbackReason::unplaced;
  if (answer == Handover::Is::refused && std::holds_alternative<Request>(message)) {
    ask_again_ = now_us() + refused_for_us;
    why_none_ = FallbackReason::refused;
  }
  return false;
}

// By whichever thread listens.
void LeaseClient::take(Grant const& grant) noexcept {
  auto const size = static_cast<std::uint32_t>(grant.team.size());
  bool same = size == size_ && version_ > 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    auto const cpu = static_cast<std::uint16_t>(grant.team[static_cast<int>(i)]);
    same = same && cpus_[i] == cpu;
    cpus_[i] = cpu;
  }
  if (!same) ++version_;
  if (floats_ != (grant.floats != 0)) ++version_;
  floats_ = grant.floats != 0;
  size_ = size;
  lease_ = grant.lease;
  unreported_ns_ = 0;
  answer_.settle(grant.ticket, Handover::Is::granted);
}

void LeaseClient::report(std::uint32_t trial) noexcept {
  if (duration_ns_ == 0 || duration_ns_ > INT64_MAX) return;  // it was not timed
  program_.send(Report{region_, size_now_, duration_ns_, trial});
  if (trial == 0 && region_ == due_) due_ = no_region;
}

void LeaseClient::leave_by_message(LeaseWord::Left left) noexcept {
  bool const is_of_trial =
      std::exchange(report_at_ns_, Report::every_ns) == 0 && is_reported_of_trial();
  if (link_ != program_.link()) return;  // the lease is kept in mind, to be claimed
  bool const is_long = duration_ns_ >= Report::every_ns;
  if (is_of_trial || is_long || region_ == due_) report(is_of_trial ? trial_.trial() : 0);
  if (unreported_ns_ >= Report::every_ns) {
    unreported_ns_ = 0;
    if (!is_long) due_ = region_;
    program_.look();
  }
  if (left == LeaseWord::Left::asked) program_.release(lease_);
  if (left != LeaseWord::Left::kept) lease_ = 0;
}

}  // namespace nigh::coordinator
