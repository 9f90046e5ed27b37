// SPDX-License-Identifier: Apache-2.0
#pragma once
// A region whose threads begin regions of their own. Only nested_plan*.cpp include this: they use
// containers that may throw, and let no exception out.

#include <pthread.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "base/atomic.hpp"
#include "openmp/nested_plan.hpp"
#include "policy/spread/spread_choice.hpp"
#include "policy/spread/team_plan.hpp"
#include "settings/learnt_spreads.hpp"

namespace nigh::openmp {

struct NestChoice {
  int cpus = 0;
  int leaders = 0;  // as the program has named; 0: it has not
  policy::SpreadChoice choice;
};

class NIGH_HIDDEN NestSite {
 public:
  explicit NestSite(coordinator::RegionId region) : id(region) {}

  coordinator::RegionId const id;
  // Facts about the demands of its threads' regions. (They are independent of each other.)
  sync::atomic<bool> is_open_inside{false};    // a demand without a number
  sync::atomic<std::uint32_t> most_inside{1};  // otherwise this number at most

  sync::atomic<bool> is_kept_flat{false};  // by the program or the user

  // All else is under nests_lock. There are few choices: one for each number of cpus granted.
  std::vector<std::unique_ptr<NestChoice>> choices;
  bool is_measuring = false;
  std::uint64_t runs = 0;  // runs that were begun with a plan
  policy::SpreadConfig last;
  int last_cpus = 0, last_leaders = 0;
  std::uint32_t last_teams = 0;
  double last_seconds = 0;
};

// Call these with the lock held.
NIGH_HIDDEN extern constinit pthread_mutex_t nests_lock;
class NestsLocked {
 public:
  NestsLocked() noexcept { pthread_mutex_lock(&nests_lock); }
  ~NestsLocked() { pthread_mutex_unlock(&nests_lock); }
  NestsLocked(NestsLocked&&) = delete;
  NestsLocked& operator=(NestsLocked&&) = delete;
};

// Null: there is no room for more.
NIGH_HIDDEN NestSite* add_nest(coordinator::RegionId);
// Each in turn, in any order.
NIGH_HIDDEN NestSite* next_nest(std::size_t& at) noexcept;

// The next run of the site, on these cpus; it may be one to be timed, if no other such run is under
// way.
struct NestRun {
  policy::SpreadConfig config;
  NestChoice* measured = nullptr;
};
NIGH_HIDDEN NestRun begin_run(NestSite& site, policy::OrderedWorkers const& ordered, int cpus,
                              int leaders);

// From earlier runs of this program (nested_plan_file.cpp).
NIGH_HIDDEN void load_nests();
NIGH_HIDDEN policy::SpreadState const* earlier_run(NestSite const& site, int cpus, int leaders);

}  // namespace nigh::openmp
