// SPDX-License-Identifier: Apache-2.0
#include "loops/spread_site.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "loops/spread_file.hpp"
#include "policy/spread/spread_space.hpp"

namespace nigh {
namespace {

spread_choice chosen(policy::SpreadConfig const& c) { return {c.spread, c.active, c.grain}; }

}  // namespace

spread_site::state::Iteration spread_site::state::begin(topology const& machine,
                                                        policy::OrderedWorkers const& ordered,
                                                        int active_, bool smt_, int grain_) {
  std::lock_guard const guard(lock);
  bool const same =
      choosing && workers == ordered.size() && active == active_ && smt == smt_ && grain == grain_;
  if (!same && !measuring) {
    workers = ordered.size();
    active = active_;
    smt = smt_;
    grain = grain_;
    shape = loops::shape_of(machine);
    int const most = smt ? workers : ordered.cores();
    int const usual = active > 0 ? std::min(active, most) : most;
    auto const space = policy::spread_space(ordered, usual, active == 0 && options.fewer_workers,
                                            options.grains, grain);
    policy::SpreadConfig const begin_with{grain, 1, usual};
    auto const earlier = loops::read_spread(machine, name, workers);
    if (earlier && policy::has(space, earlier->held))
      choosing.emplace(space, begin_with, *earlier);
    else
      choosing.emplace(space, begin_with);
  }
  Iteration iteration{chosen(choosing->next()), !measuring};
  measuring = true;
  return iteration;
}

void spread_site::state::took(double seconds) {
  double agreed = seconds;
  try {
    if (options.agree) agreed = options.agree(seconds);
  } catch (...) {
    dropped();
    throw;
  }
  std::lock_guard const guard(lock);
  measuring = false;
  choosing->took(agreed);
}

void spread_site::state::dropped() noexcept {
  std::lock_guard const guard(lock);
  measuring = false;
}

void spread_site::state::save() const {
  std::lock_guard const guard(lock);
  if (choosing && choosing->is_holding())
    loops::write_spread(shape, {name, workers, choosing->state()});
}

spread_site::spread_site(std::string name, spread_site_options options)
    : state_(std::make_unique<state>(std::move(name), std::move(options))) {
  if (!settings::is_site_name(state_->name))
    throw std::invalid_argument(
        "spread_site: a name has no quotes, backslashes and control characters");
  for (int grain : state_->options.grains)
    if (grain < 1)
      throw std::invalid_argument("spread_site_options::grains: " + std::to_string(grain) +
                                  " is not at least 1");
}
// A failure to keep loses what was learnt, and nothing else.
spread_site::~spread_site() {
  try {
    state_->save();
  } catch (std::exception const&) {
  }
}

spread_choice spread_site::next() const {
  std::lock_guard const guard(state_->lock);
  return state_->choosing ? chosen(state_->choosing->next()) : spread_choice();
}

bool spread_site::is_holding() const {
  std::lock_guard const guard(state_->lock);
  return state_->choosing && state_->choosing->is_holding();
}

int spread_site::trials() const {
  std::lock_guard const guard(state_->lock);
  return state_->choosing ? state_->choosing->trials() : 0;
}

std::string const& spread_site::name() const noexcept { return state_->name; }

}  // namespace nigh
