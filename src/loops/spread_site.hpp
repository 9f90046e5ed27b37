// SPDX-License-Identifier: Apache-2.0
#pragma once
// The contents of a spread_site: SpreadChoice, and the number of workers it has been asked for.

#include <mutex>
#include <nigh/spread.hpp>
#include <optional>
#include <string>

#include "policy/spread/spread_choice.hpp"
#include "policy/spread/team_plan.hpp"

namespace nigh {

struct spread_site::state {
  state(std::string name_, spread_site_options options_)
      : name(std::move(name_)), options(std::move(options_)) {}

  // An iteration of so many blocks; with `active` workers; 0: as many as is best.
  struct Iteration {
    spread_choice choice;
    bool counts = false;  // took() or dropped() follows
  };
  Iteration begin(topology const& machine, policy::OrderedWorkers const& ordered, int active,
                  bool smt, int grain);
  void took(double seconds);
  void dropped() noexcept;
  void save() const;

  std::string const name;
  spread_site_options const options;
  mutable std::mutex lock;
  bool measuring = false;
  int workers = 0, active = 0, grain = 0;  // what it was made for
  bool smt = true;
  std::string shape;  // of the machine
  std::optional<policy::SpreadChoice> choosing;
};

struct spread_access {
  static spread_site::state& of(spread_site& site) noexcept { return *site.state_; }
};

}  // namespace nigh
