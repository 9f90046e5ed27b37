// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of a region whose threads begin regions of their own. Of nests*.cpp alone: these
// use what may throw, and let nothing out.

#include <pthread.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "base/atomic.hpp"
#include "openmp/nests.hpp"
#include "policy/spread_choice.hpp"
#include "policy/spread_lines.hpp"
#include "policy/team_seats.hpp"

namespace nigh::openmp {

struct NestChoice {
  int cpus = 0;
  int masters = 0;  // as the program has named; 0: it has not
  policy::SpreadChoice choice;
};

class NIGH_HIDDEN NestSite {
 public:
  explicit NestSite(coordinator::RegionId region) : id(region) {}

  coordinator::RegionId const id;
  // What its threads' regions were seen to ask for. (Of no consequence to each other.)
  sync::atomic<bool> is_open_inside{false};    // no number
  sync::atomic<std::uint32_t> most_inside{1};  // else this one at most

  sync::atomic<bool> is_kept_flat{false};  // by whoever says how many levels are active

  // The rest under nests_lock. There are few choices: one for each number of cpus granted.
  std::vector<std::unique_ptr<NestChoice>> choices;
  bool is_measuring = false;
  std::uint64_t runs = 0;  // of those that were begun as a nest
  policy::SpreadConfig last;
  int last_cpus = 0, last_masters = 0;
  std::uint32_t last_teams = 0;
  double last_seconds = 0;
};

// Under it, any of the following.
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
// Each in turn, in no order.
NIGH_HIDDEN NestSite* next_nest(std::size_t& at) noexcept;

// What the next run of the site is to be, on these cpus; perhaps one whose time is to be told, if
// no other one is under way.
struct NestRun {
  policy::SpreadConfig config;
  NestChoice* measured = nullptr;
};
NIGH_HIDDEN NestRun begin_run(NestSite& site, policy::TeamSeats const& seats, int cpus,
                              int masters);

// Of earlier runs of this program (nests_file.cpp).
NIGH_HIDDEN void load_nests();
NIGH_HIDDEN policy::SpreadState const* earlier_run(NestSite const& site, int cpus, int masters);

}  // namespace nigh::openmp
