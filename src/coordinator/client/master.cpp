// SPDX-License-Identifier: Apache-2.0
#include "coordinator/client/master.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "platform/affinity.hpp"

namespace nigh::coordinator {
namespace {

constexpr std::int64_t refused_for_us = 1'000'000;

std::int64_t now_us() noexcept {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Master::Master(Program& program) noexcept : program_(program) {}

Master::~Master() {
  give_back();
  program_.detach(*this);
}

void Master::give_back() noexcept {
  if (forget_word()) program_.send(Release{lease_});
  lease_ = 0;
}

// True if the lease is now to be released by message, whether a region is in it or not.
bool Master::forget_word() noexcept {
  return holds() &&
         (program_.word(slot_).give_back(lease_) || program_.word(slot_).decline(lease_));
}

Master::Team Master::enter_by_message(Demand demand) noexcept {
  bool const may_ask = ask_again_ == 0 || ask_again_ <= now_us();
  if (!may_ask || !program_.rejoin() || !program_.attach(*this) || !demand.is_valid()) return {};
  ask_again_ = 0;
  bool const is_from_before =
      lease_ != 0 && link_ != program_.link() && link_ > program_.forgotten_links_;
  if ((is_from_before && claim(demand)) || request(demand)) {
    is_inside_ = true;
    return team_for(demand);
  }
  lease_ = 0;
  return {};
}

// To a coordinator that may have just started: what we had from the one before.
bool Master::claim(Demand demand) noexcept {
  Claim claim{.region = region_, .ticket = 0, .demand = demand, .team = {}};
  for (std::uint32_t i = 0; i < size_; ++i) claim.team.add(cpus_[i]);
  lease_ = 0;
  asked_ = demand;
  claim.ticket = ticket_ += lease_slots;
  return ask(claim);
}

bool Master::request(Demand demand) noexcept {
  bool const returns = forget_word();
  auto const held = std::exchange(lease_, 0);
  int const cpu = platform::current_cpu();
  asked_ = demand;
  return ask(
      Request{.region = region_,
              .ticket = ticket_ += lease_slots,
              .demand = demand,
              .place = 0 <= cpu && cpu < max_cpus ? static_cast<std::uint32_t>(cpu) : unknown_place,
              .returned = returns ? held : 0});
}

bool Master::ask(ProgramMessage const& message) noexcept {
  auto const link = program_.link();
  if (link == 0) return false;
  answer_.store(Answer::awaited, sync::release);  // (R)
  program_.send_and_wait(*this, message, link);
  auto const answer = answer_.exchange(Answer::none, sync::acquire);  // (R)
  if (answer == Answer::refused && std::holds_alternative<Request>(message))
    ask_again_ = now_us() + refused_for_us;
  link_ = link;
  return answer == Answer::granted;
}

// By whichever thread listens.
void Master::take(Grant const& grant) noexcept {
  auto const size = static_cast<std::uint32_t>(grant.team.size());
  bool same = size == size_ && version_ > 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    auto const cpu = static_cast<std::uint16_t>(grant.team[static_cast<int>(i)]);
    same = same && cpus_[i] == cpu;
    cpus_[i] = cpu;
  }
  if (!same) ++version_;
  size_ = size;
  lease_ = grant.lease;
  unreported_ns_ = 0;
  answer_.store(Answer::granted, sync::release);  // (R)
}

void Master::leave_by_message(LeaseWord::Left left) noexcept {
  if (link_ != program_.link()) return;  // the lease is kept in mind, to be claimed
  if (unreported_ns_ >= report_every_ns) {
    unreported_ns_ = 0;
    if (duration_ns_ > 0 && duration_ns_ <= INT64_MAX)
      program_.send(Report{region_, size_now_, duration_ns_});
    program_.look();
  }
  if (left == LeaseWord::Left::asked) program_.send(Release{lease_});
  if (left != LeaseWord::Left::kept) lease_ = 0;
}

}  // namespace nigh::coordinator
