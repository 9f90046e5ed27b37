// SPDX-License-Identifier: Apache-2.0
#include "sim/loops/loop_run.hpp"

#include <algorithm>

namespace nigh::sim {

namespace {

template <class T>
T& at(std::vector<T>& all, int i) noexcept {
  return all[static_cast<std::size_t>(i)];
}

}  // namespace

LoopRun::LoopRun(schedule_kind kind, std::size_t chunk, std::size_t steps, Team const& team)
    : team_(team),
      how_(kind, chunk, steps, team.loop_workers()),
      hands_(team.cpus.size()),
      begun_(team.cpus.size()),
      doing_(team.cpus.size(), Doing::coming) {
  for (int s = 0; s < how_.spans(); ++s) spans_.push_back(how_.units_of(s));
}

LoopRun LoopRun::split_by_thieves(std::size_t grain, std::size_t steps, Team const& team) {
  LoopRun run(schedule_kind::adaptive, 1, steps, team);
  run.grain_ = static_cast<std::uint32_t>(std::max<std::size_t>(grain, 1));
  for (auto& span : run.spans_) span = {0, 0};
  run.spans_.front() = {0, static_cast<std::uint32_t>(steps)};
  return run;
}

std::optional<std::size_t> LoopRun::next(int thread, Random& random) {
  auto& begun = at(begun_, thread);
  if (begun.begin == begun.end) {
    auto& hand = at(hands_, thread);
    if (hand.units.empty() && !refill(thread, random)) {
      through_ += at(doing_, thread) != Doing::through;
      at(doing_, thread) = Doing::through;
      return std::nullopt;
    }
    begun = how_.take_steps(hand);
  }
  at(doing_, thread) = Doing::at_step;
  return begun.begin++;
}

std::string LoopRun::states() const {
  std::string text = std::to_string(through_) + " of " + std::to_string(hands_.size()) +
                     " threads are through with their loop";
  for (std::size_t t = 0; t < hands_.size(); ++t) {
    text += "\n  thread " + std::to_string(t) + ": ";
    if (doing_[t] == Doing::coming)
      text += "has not come to it";
    else if (doing_[t] == Doing::through)
      text += "through";
    else
      text += "at step " + std::to_string(begun_[t].begin - 1);
  }
  return text;
}

bool LoopRun::refill(int thread, Random& random) {
  int const mine = how_.span_of(thread);
  auto& own = at(spans_, mine);
  if (own.empty()) return grain_ > 0 ? steal(thread, random) : visit(thread);
  auto const end = own.begin + owner_takes(own.count());
  at(hands_, thread) = {{own.begin, end}, mine, 0};
  own.begin = end;
  return true;
}

// As loops::Loop does: of the nearest others who have something, the one who has most. A static
// span is nobody else's once its owner has come, and here all come.
bool LoopRun::visit(int thread) {
  if (!how_.splits()) return false;
  for (auto const& level : team_.layout.victims_of(thread).levels) {
    auto const most = std::max_element(
        level.victims.begin(), level.victims.end(),
        [&](int a, int b) { return at(spans_, a).count() < at(spans_, b).count(); });
    auto& theirs = at(spans_, *most);
    if (theirs.empty()) continue;
    auto const begin = theirs.end - how_.helper_takes(theirs.count());
    auto const cut = begin + how_.owner_takes(theirs.end - begin);
    at(hands_, thread) = {{begin, cut}, *most, 0};
    at(spans_, thread) = {cut, theirs.end};
    theirs.end = begin;
    return true;
  }
  return false;
}

// Draws until it has drawn somebody who has something, or that would take for ever.
bool LoopRun::steal(int thread, Random& random) {
  auto const& plan = team_.layout.victims_of(thread);
  if (plan.levels.empty() ||
      std::all_of(spans_.begin(), spans_.end(), [](policy::Units u) { return u.empty(); }))
    return false;
  for (int attempt = 0;; ++attempt) {
    auto const bits = static_cast<std::uint32_t>(random.below(1 << 30)) << 2;
    int const victim = policy::victim(plan, policy::VictimChoice::random, attempt, bits).worker;
    auto& theirs = at(spans_, victim);
    if (theirs.empty()) continue;
    at(spans_, thread) = {theirs.end - how_.helper_takes(theirs.count()), theirs.end};
    theirs.end = at(spans_, thread).begin;
    return refill(thread, random);
  }
}

}  // namespace nigh::sim
