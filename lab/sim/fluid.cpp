// SPDX-License-Identifier: Apache-2.0
#include "sim/fluid.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace nigh::sim {

namespace {

constexpr auto later = [](auto const& a, auto const& b) { return a.after(b); };

// Two bottlenecks that a rounding keeps apart are one.
constexpr double as_low_as = 1 + 1e-12;

// Of a sum of weights, what may be no more than the rounding of those that were taken from it.
constexpr double maybe_rounding = 1e-6;

}  // namespace

ResourceId FluidNetwork::add(Resource resource) {
  NIGH_ASSERT(resource.capacity > 0 && resource.crowding >= 0, "a resource gives something");
  resources_.emplace_back();
  resources_.back().what = resource;
  return static_cast<ResourceId>(resources_.size() - 1);
}

FlowId FluidNetwork::start(Time now, double volume, std::span<Use const> uses, double cap) {
  begin_change(now);
  NIGH_ASSERT(volume >= 0 && cap > 0 && (!uses.empty() || cap < no_cap), "a flow has an end");
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
  }
  auto const slot = free_slots_.back();
  free_slots_.pop_back();
  Flow& f = flows_[slot];
  f.id = ++started_ << 32 | slot;
  f.left = volume;
  f.rate = 0;
  f.cap = cap;
  f.since = now;
  f.uses.assign(uses.begin(), uses.end());
  for (Use const& u : f.uses) {
    NIGH_DEBUG_ASSERT(u.resource < resources_.size() && u.weight > 0, "a use of what there is");
    resources_[u.resource].slots.push_back(slot);
    touch_shared(u.resource);
  }
  touch(slot);
  ++running_;
  return f.id;
}

double FluidNetwork::stop(Time now, FlowId flow) {
  begin_change(now);
  Flow& f = checked(flow);
  auto const slot = slot_of(flow);
  double const left = std::max(0.0, f.left - f.rate * seconds(now - f.since));
  for (Use const& u : f.uses) {
    std::erase(resources_[u.resource].slots, slot);
    touch_shared(u.resource);
  }
  f.id = 0;
  ++f.version;
  free_slots_.push_back(slot);
  --running_;
  return left;
}

FluidNetwork::Flow& FluidNetwork::checked(FlowId flow) {
  Flow& f = flows_[slot_of(flow)];
  NIGH_ASSERT(f.id == flow, "a flow that runs");
  return f;
}

std::optional<FluidNetwork::Ending> FluidNetwork::next_ending(Time now) {
  settle(now);
  while (!due_.empty()) {
    Due const& first = due_.front();
    if (flows_[first.slot].version == first.version) return Ending{first.at, first.flow};
    std::pop_heap(due_.begin(), due_.end(), later);
    due_.pop_back();
  }
  return std::nullopt;
}

double FluidNetwork::rate(Time now, FlowId flow) {
  settle(now);
  return checked(flow).rate;
}

// A flow that has begun or ended just now has not yet had an effect.
double FluidNetwork::left(Time now, FlowId flow) {
  if (now > changed_) settle(now);
  Flow const& f = checked(flow);
  return std::max(0.0, f.left - f.rate * seconds(now - f.since));
}

double FluidNetwork::used(Time now, ResourceId resource) {
  settle(now);
  double sum = 0;
  for (auto const slot : resources_[resource].slots)
    for (Use const& u : flows_[slot].uses)
      if (u.resource == resource) sum += u.weight * flows_[slot].rate;
  return sum;
}

void FluidNetwork::touch(std::uint32_t slot) {
  if (std::exchange(flows_[slot].touched, true)) return;
  touched_.push_back(slot);
}
void FluidNetwork::touch_shared(ResourceId r) {
  if (std::exchange(resources_[r].touched, true)) return;
  touched_shared_.push_back(r);
}

// Everything that is connected with what was touched.
void FluidNetwork::collect_component() {
  std::size_t flow = 0, shared = 0;
  while (flow < touched_.size() || shared < touched_shared_.size()) {
    if (flow < touched_.size()) {
      Flow const& f = flows_[touched_[flow++]];
      if (f.id != 0)
        for (Use const& u : f.uses) touch_shared(u.resource);
    } else {
      for (auto const slot : resources_[touched_shared_[shared++]].slots) touch(slot);
    }
  }
}

// Changes of one moment are settled together, before those of the next.
void FluidNetwork::begin_change(Time now) {
  NIGH_ASSERT(now >= changed_, "time does not go back");
  if (now > changed_) settle(now);
  changed_ = now;
}

void FluidNetwork::settle(Time asked) {
  NIGH_ASSERT(asked >= changed_, "time does not go back");
  if (touched_.empty() && touched_shared_.empty()) return;
  Time const now = changed_;
  collect_component();
  rising_.clear();
  for (auto const slot : touched_) {
    flows_[slot].touched = false;
    if (flows_[slot].id != 0) rising_.push_back(slot);
  }
  // In the order of their beginnings, so that sums are rounded the same way whatever was touched
  // first.
  std::sort(rising_.begin(), rising_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return flows_[a].id < flows_[b].id; });
  for (auto const slot : rising_) {
    Flow& f = flows_[slot];
    f.left = std::max(0.0, f.left - f.rate * seconds(now - f.since));
    f.since = now;
  }
  computed_ += rising_.size();
  auto const concerned = rising_;
  fill();
  if (due_.size() > 64 + 4 * running_) forget_past_endings();
  for (auto const slot : concerned) note_ending(now, slot);
  for (auto const r : touched_shared_) resources_[r].touched = false;
  touched_.clear();
  touched_shared_.clear();
}

// Progressive filling.
void FluidNetwork::fill() {
  for (auto const r : touched_shared_) {
    Shared& s = resources_[r];
    s.left = s.what.capacity_for(static_cast<int>(s.slots.size()));
    s.weights = 0;
    s.rising = 0;
  }
  for (auto const slot : rising_) {
    flows_[slot].rises = true;
    for (Use const& u : flows_[slot].uses) {
      resources_[u.resource].weights += u.weight;
      ++resources_[u.resource].rising;
    }
  }
  for (auto const r : touched_shared_) resources_[r].all_weights = resources_[r].weights;
  double lowest = 0;  // levels rise, except by rounding
  while (!rising_.empty()) {
    double level = no_cap;
    for (auto const r : touched_shared_)
      if (resources_[r].rising > 0)
        level = std::min(level, resources_[r].left / resources_[r].weights);
    for (auto const slot : rising_) level = std::min(level, flows_[slot].cap);
    level = lowest = std::max(level, lowest);
    double const reached = level * as_low_as;
    stopped_.clear();
    auto const stop_at = [&](std::uint32_t slot) {
      if (std::exchange(flows_[slot].rises, false)) stopped_.push_back(slot);
    };
    for (auto const r : touched_shared_) {
      Shared const& s = resources_[r];
      if (s.rising > 0 && s.left <= reached * s.weights)
        for (auto const slot : s.slots) stop_at(slot);
    }
    for (auto const slot : rising_)
      if (flows_[slot].cap <= reached) stop_at(slot);
    NIGH_ASSERT(!stopped_.empty(), "each step finds a bottleneck");
    for (auto const slot : stopped_) settle_at(slot, level);
    for (auto const r : touched_shared_) {
      Shared& s = resources_[r];
      if (s.rising > 0 && s.weights < s.all_weights * maybe_rounding)
        s.weights = s.all_weights = rising_weights(r);
    }
    std::erase_if(rising_, [&](std::uint32_t slot) { return !flows_[slot].rises; });
  }
}

void FluidNetwork::settle_at(std::uint32_t slot, double level) {
  flows_[slot].rate = level;
  for (Use const& u : flows_[slot].uses) {
    Shared& s = resources_[u.resource];
    s.left = std::max(0.0, s.left - level * u.weight);
    // The rest that rounding leaves of weights that are all gone is no weight.
    s.weights = --s.rising == 0 ? 0 : s.weights - u.weight;
  }
}

double FluidNetwork::rising_weights(ResourceId r) const {
  double sum = 0;
  for (auto const slot : resources_[r].slots)
    for (Use const& u : flows_[slot].uses)
      if (u.resource == r && flows_[slot].rises) sum += u.weight;
  return sum;
}

// Endings that are foreseen anew leave their old ones behind.
void FluidNetwork::forget_past_endings() {
  std::erase_if(due_, [&](Due const& d) { return flows_[d.slot].version != d.version; });
  std::make_heap(due_.begin(), due_.end(), later);
}

void FluidNetwork::note_ending(Time now, std::uint32_t slot) {
  Flow& f = flows_[slot];
  ++f.version;
  if (f.rate <= 0) return;
  due_.push_back({now + nanoseconds(f.left / f.rate), f.id, slot, f.version});
  std::push_heap(due_.begin(), due_.end(), later);
}

}  // namespace nigh::sim
