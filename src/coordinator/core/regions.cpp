// SPDX-License-Identifier: Apache-2.0
#include "coordinator/core/regions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coordinator/protocol/trial_runs.hpp"

namespace nigh::coordinator {
namespace {

static_assert(policy::RegionProbe::runs * 2 == TrialRuns::count);

Demand from_policy(policy::ThreadDemand d) {
  return {static_cast<std::uint32_t>(d.maximum), static_cast<std::uint32_t>(d.optimal)};
}

// A program may report any time, and a double beyond 2^63 fits no integer.
std::int64_t whole_ns(double ns) {
  constexpr double longest = 1e18;  // 31 years
  return std::llround(std::clamp(ns, 0.0, longest));
}

}  // namespace

// Of a study of all sizes, those farthest apart.
void Regions::recall_times(Region& region, std::vector<KnownRegion::Time> const& times) {
  constexpr auto most_times = policy::RegionScaling::sizes;
  auto const count = std::min(times.size(), most_times);
  for (std::size_t i = 0; i < count; ++i) {
    auto const& t = times[count < 2 ? 0 : i * (times.size() - 1) / (count - 1)];
    region.scaling.recall(t.threads, t.median_ns, t.runs, t.spread_ns);
    region.probe.recall(static_cast<double>(t.median_ns) * static_cast<double>(t.runs));
  }
}

// A quarter of the room is left for regions about which nothing is known: a library's profile may
// have many regions that this program never enters.
void Regions::recall(std::vector<KnownRegion> const& known) {
  for (KnownRegion const& k : known) {
    bool const is_there = regions_.find(k.id) != regions_.end();
    if (!is_there && regions_.size() >= most_ - most_ / 4) continue;
    Region* const region = find_or_add(k.id);
    if (region == nullptr) continue;
    if (k.is_fixed) region->fixed = k.demand;
    // This run has taught more.
    if (!region->scaling.is_known()) recall_times(*region, k.times);
    advise(k.id, *region);
  }
}

std::vector<KnownRegion> Regions::known() const {
  std::vector<KnownRegion> all;
  for (auto const& [id, region] : regions_) {
    KnownRegion k{.id = id, .is_fixed = region.fixed.is_known(), .demand = known_demand(region)};
    k.is_indifferent = !k.is_fixed && region.scaling.is_indifferent();
    for (auto const& size : region.scaling.known(true).certain())
      k.times.push_back({size.threads, std::max<std::int64_t>(1, whole_ns(size.time.median)),
                         size.runs, 2 * (whole_ns(size.time.median * size.time.spread) / 2)});
    all.push_back(std::move(k));
  }
  return all;
}

void Regions::take(Report const& report, int percent, std::int64_t now_us, bool is_shared) {
  Region* const region = find_or_add(report.region);
  if (region == nullptr) return;
  ++reports_;
  auto const threads = static_cast<int>(report.threads);
  auto const duration_ns = whole_ns(static_cast<double>(report.duration_ns));
  if (report.trial != 0) {
    take_from_trial(*region, report, now_us, is_shared);
  } else {
    region->probe.spend(static_cast<double>(std::max(report.duration_ns, Report::every_ns)));
    region->scaling.observe(threads, duration_ns, is_shared);
    give_up_if_stale(now_us);
    if (!trial_) try_out(report.region, *region, threads, percent, now_us, is_shared);
  }
  advise(report.region, *region);
}

// A late report, of a trial that is over, counts for nothing.
void Regions::take_from_trial(Region& region, Report const& report, std::int64_t now_us,
                              bool is_shared) {
  if (!trial_ || trial_->number != report.trial || trial_->region != report.region) return;
  trial_->news_us = now_us;
  auto& probe = region.probe;
  bool const has_its_team = static_cast<int>(report.threads) == probe.size();
  if (has_its_team && TrialRuns::takes_too_long(static_cast<double>(report.duration_ns),
                                                report.threads, probe.expected_ns(),
                                                static_cast<std::uint32_t>(probe.usual_team()))) {
    probe.cut(whole_ns(static_cast<double>(report.duration_ns)));
    trial_.reset();
    return;
  }
  if (region.probe.observe(region.scaling, static_cast<int>(report.threads),
                           whole_ns(static_cast<double>(report.duration_ns)), is_shared))
    trial_.reset();
}

// The program does other things now.
void Regions::give_up_if_stale(std::int64_t now_us) {
  if (!trial_) return;
  constexpr std::int64_t patience_us = 1'000'000;
  auto& region = regions_.at(trial_->region);
  if (now_us < trial_->news_us + patience_us + region.probe.longest_pause_ns() / 1000) return;
  region.probe.give_up();
  advise(std::exchange(trial_, std::nullopt)->region, region);
}

void Regions::try_out(RegionId id, Region& region, int team, int percent, std::int64_t now_us,
                      bool is_shared) {
  if (region.fixed.is_known()) return;
  int size = region.probe.affordable(region.scaling, team, percent, is_shared);
  // A larger team takes cpus that others may want.
  if (size == 0 && !is_shared) size = region.probe.doubtful(region.scaling, team, cpus_, percent);
  if (size == 0) return;
  region.probe.begin(region.scaling, size, team);
  last_trial_ = last_trial_ % last_trial + 1;
  trial_ = Trial{id, last_trial_, now_us};
}

policy::ThreadDemand Regions::demand(RegionId id, Demand told) const {
  auto const at_most = [](int limit, Demand d) {
    return policy::ThreadDemand{std::min(limit, static_cast<int>(d.maximum)),
                                std::min(limit, static_cast<int>(d.optimal))};
  };
  if (told.is_known()) return at_most(cpus_, told);
  int const limit = told.maximum > 0 ? std::min(cpus_, static_cast<int>(told.maximum)) : cpus_;
  auto const region = regions_.find(id);
  if (region != regions_.end()) {
    if (region->second.fixed.is_known()) return at_most(limit, region->second.fixed);
    if (auto learnt = region->second.scaling.demand(limit)) {
      if (trial_ && trial_->region == id)
        learnt->maximum = std::max(learnt->maximum, std::min(limit, region->second.probe.size()));
      return *learnt;
    }
  }
  return {limit, (limit + 1) / 2};
}

Demand Regions::known_demand(Region const& region) const {
  if (region.fixed.is_known()) return region.fixed;
  auto const learnt = region.scaling.demand(cpus_);
  return learnt ? from_policy(*learnt) : Demand{};
}

Demand Regions::known_demand(RegionId id) const {
  auto const region = regions_.find(id);
  return region == regions_.end() ? Demand{} : known_demand(region->second);
}

std::optional<double> Regions::efficiency(RegionId id, int threads) const {
  auto const region = regions_.find(id);
  if (region == regions_.end()) return std::nullopt;
  return region->second.scaling.efficiency(threads);
}

void Regions::advise(RegionId id, Region& region) {
  Advice advice{.region = id};
  advice.maximum = known_demand(region).maximum;
  if (region.fixed.is_known() || policy::is_worth_a_smaller_team(region.scaling))
    advice.limit = advice.maximum;
  if (trial_ && trial_->region == id) {
    advice.trial = trial_->number;
    advice.size = static_cast<std::uint32_t>(region.probe.size());
  }
  if (advice == region.said || (region.said == Advice{} && advice == Advice{.region = id})) return;
  region.said = advice;
  advice_.push_back(advice);
}

std::vector<Advice> Regions::take_advice() { return std::exchange(advice_, {}); }

Regions::Region* Regions::find_or_add(RegionId id) {
  auto const found = regions_.find(id);
  if (found != regions_.end()) return &found->second;
  return regions_.size() < most_ ? &regions_[id] : nullptr;
}

}  // namespace nigh::coordinator
