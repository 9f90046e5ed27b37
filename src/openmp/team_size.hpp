// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many threads should a region have? A decision on plain numbers.
//
// OpenMP lets a team be smaller than asked for only where dyn-var is true. So a team keeps its
// size, and sits on as many cpus as were granted, unless it is known that it may be smaller:
//
//   who says it                                       regions without a clause    num_threads(k)
//   ------------------------------------------------  -------------------------  ---------------
//   a strict clause (OpenMP 6); TeamRule::whole        keep their size            keep it
//   else the user (--adjust): none                     keep their size            keep it
//                             nests                    may be smaller             may be smaller
//   else the program: OMP_DYNAMIC=false,               keep their size            keep it
//                     omp_set_dynamic(0)
//   else the user: without-clause                      may be smaller             as below
//                  all                                 may be smaller             may be smaller
//   else the program: OMP_DYNAMIC=true,                may be smaller             may be smaller
//                     omp_set_dynamic(1)
//                     omp_set_num_threads(n)           keep their size            as below
//   else what was tried: TeamRule::free                may be smaller             keep it
//                        TeamRule::named               may be smaller             may be smaller
//   else                                               keep their size            keep it

#include <algorithm>
#include <cstdint>

#include "coordinator/protocol/message.hpp"
#include "settings/team_adjust.hpp"

namespace nigh::openmp {

using settings::Adjust;

// Known about the object that holds a region (libraries.hpp).
enum class TeamRule : std::uint8_t {
  unknown,
  whole,  // goes wrong with fewer threads than it was told
  free,   // works with fewer, where it has not named a number
  named,  // works with fewer there, too
};

// The threads that a region asks for.
struct TeamDemand {
  std::uint32_t threads = 0;  // never more
  bool is_exact = false;      // nor fewer

  constexpr bool operator==(TeamDemand const&) const = default;
};

// The num_threads clause of a region.
struct Clause {
  std::uint32_t threads = 0;  // 0: there is none
  bool is_strict = false;     // OpenMP 6: an error to have another number

  constexpr bool operator==(Clause const&) const = default;
};

// The settings of teams that the program or its environment gave the runtime.
struct Said {
  bool is_dynamic = false;    // dyn-var is true
  bool is_fixed = false;      // it was set to false: OpenMP begins with that, too
  bool names_number = false;  // omp_set_num_threads()
};

struct Limits {
  Clause clause{};
  std::uint32_t maximum = 1;  // nthreads-var: omp_get_max_threads()
  std::uint32_t thread_limit = 1;
  Said said{};
  TeamRule rule = TeamRule::unknown;
};

// By the program, or because it was tried.
constexpr bool is_known_to_shrink(Limits const& l) noexcept {
  if (l.said.is_dynamic) return true;
  bool const has_clause = l.clause.threads != 0;
  if (!has_clause && l.said.names_number) return false;
  return l.rule == TeamRule::named || (l.rule == TeamRule::free && !has_clause);
}

constexpr bool may_shrink(Limits const& l, Adjust adjust) noexcept {
  if (l.clause.is_strict || l.rule == TeamRule::whole || adjust == Adjust::none) return false;
  if (adjust == Adjust::nests) return true;
  if (l.said.is_fixed && !l.said.is_dynamic) return false;
  if (adjust == Adjust::all) return true;
  return is_known_to_shrink(l) || (adjust == Adjust::without_clause && l.clause.threads == 0);
}

constexpr TeamDemand team_demand(Limits const& l, Adjust adjust) noexcept {
  auto const asked = l.clause.threads != 0 ? l.clause.threads : l.maximum;
  return {std::max(1U, std::min(asked, l.thread_limit)), !may_shrink(l, adjust)};
}

// Where sizes are chosen on purpose: by a study, or for a nest.
constexpr Adjust when_chosen(Adjust adjust) noexcept {
  return adjust == Adjust::as_known ? Adjust::without_clause : adjust;
}

// Whether omp_get_dynamic() should say yes where the runtime says no: a team of the calling object
// may be smaller, with a clause or without, and OpenMP alone would not let it.
constexpr bool tells_dynamic(TeamRule rule, Said said, Adjust adjust) noexcept {
  said.is_dynamic = false;
  return may_shrink({{}, 1, 1, said, rule}, adjust) ||
         may_shrink({{1, false}, 1, 1, said, rule}, adjust);
}

// The clause of a region that holds others, or is held.
constexpr Clause heeded(Clause clause, Adjust adjust) noexcept {
  return adjust == Adjust::nests && !clause.is_strict ? Clause{} : clause;
}

// Where the program leaves the size open, the coordinator learns how many threads a region can use,
// up to a number that the program may have set; otherwise the program tells it.
constexpr coordinator::Demand cpu_demand(TeamDemand w, std::uint32_t cpus) noexcept {
  auto const threads = std::min<std::uint32_t>(w.threads, coordinator::max_cpus);
  if (w.is_exact) return {threads, threads};
  if (threads >= cpus) return {};
  return {threads, 0};
}

constexpr std::uint32_t team_size(TeamDemand w, std::uint32_t granted) noexcept {
  return granted == 0 || w.is_exact ? w.threads : std::min(w.threads, granted);
}

namespace truths {

inline constexpr Said nothing{}, dynamic{true, false, false}, fixed{false, true, false},
    number{false, false, true}, dynamic_again{true, true, false};

// Whether a team may shrink: without a clause, and with one.
struct Both {
  bool without, with;
  constexpr bool operator==(Both const&) const = default;
};
constexpr Both shrinks(TeamRule rule, Said said, Adjust adjust) noexcept {
  return {!team_demand({{}, 8, 100, said, rule}, adjust).is_exact,
          !team_demand({{4, false}, 8, 100, said, rule}, adjust).is_exact};
}
inline constexpr Both neither{false, false}, open{true, false}, either{true, true},
    closed{false, true};

using enum TeamRule;
using enum Adjust;
static_assert(shrinks(unknown, nothing, as_known) == neither);
static_assert(shrinks(unknown, number, as_known) == neither);
static_assert(shrinks(unknown, fixed, as_known) == neither);
static_assert(shrinks(unknown, dynamic, as_known) == either);
static_assert(shrinks(unknown, dynamic_again, as_known) == either);
static_assert(shrinks(unknown, dynamic_again, all) == either);
static_assert(shrinks(free, nothing, as_known) == open);
static_assert(shrinks(free, number, as_known) == neither);
static_assert(shrinks(free, fixed, as_known) == neither);
static_assert(shrinks(free, dynamic, as_known) == either);
static_assert(shrinks(named, nothing, as_known) == either);
static_assert(shrinks(named, number, as_known) == closed);
static_assert(shrinks(named, fixed, as_known) == neither);
static_assert(shrinks(named, dynamic, as_known) == either);

static_assert(shrinks(unknown, nothing, without_clause) == open);
static_assert(shrinks(unknown, number, without_clause) == open);
static_assert(shrinks(unknown, fixed, without_clause) == neither);
static_assert(shrinks(unknown, dynamic, without_clause) == either);
static_assert(shrinks(free, fixed, without_clause) == neither);
static_assert(shrinks(named, nothing, without_clause) == either);
static_assert(shrinks(named, fixed, without_clause) == neither);

static_assert(shrinks(unknown, fixed, all) == neither && shrinks(unknown, fixed, nests) == either);
static_assert(shrinks(unknown, fixed, none) == neither && shrinks(free, fixed, all) == neither);
static_assert(shrinks(unknown, number, all) == either && shrinks(free, number, all) == either);
static_assert(shrinks(unknown, dynamic, none) == neither &&
              shrinks(named, nothing, none) == neither);

static_assert(shrinks(whole, nothing, as_known) == neither);
static_assert(shrinks(whole, dynamic, as_known) == neither);
static_assert(shrinks(whole, dynamic, without_clause) == neither);
static_assert(shrinks(whole, dynamic, all) == neither && shrinks(whole, nothing, nests) == neither);

static_assert(team_demand({{4, true}, 8, 100, dynamic, free}, all) == TeamDemand{4, true});
static_assert(team_demand({{}, 8, 3, nothing, unknown}, none) == TeamDemand{3, true});
static_assert(team_demand({heeded({4, false}, nests), 8, 100, nothing, unknown}, nests) ==
              TeamDemand{8, false});
static_assert(when_chosen(as_known) == without_clause && when_chosen(none) == none);
static_assert(tells_dynamic(unknown, nothing, all) && tells_dynamic(unknown, number, all));
static_assert(tells_dynamic(unknown, nothing, without_clause));
static_assert(!tells_dynamic(unknown, fixed, all) && tells_dynamic(unknown, fixed, nests));
static_assert(!tells_dynamic(unknown, nothing, as_known) && !tells_dynamic(unknown, nothing, none));
static_assert(!tells_dynamic(whole, nothing, all) && !tells_dynamic(whole, nothing, nests));
static_assert(tells_dynamic(free, nothing, as_known) && tells_dynamic(named, nothing, as_known));
static_assert(!tells_dynamic(free, fixed, as_known) && !tells_dynamic(named, fixed, as_known));
static_assert(!tells_dynamic(free, number, as_known) && tells_dynamic(named, number, as_known));
static_assert(tells_dynamic(free, number, all) && tells_dynamic(free, number, without_clause));
static_assert(!tells_dynamic(free, nothing, none) && !tells_dynamic(named, nothing, none));
static_assert(team_size({8, false}, 2) == 2 && team_size({8, true}, 2) == 8);
static_assert(team_size({2, false}, 4) == 2 && team_size({8, false}, 0) == 8);
static_assert(!cpu_demand({8, false}, 8).is_known() && cpu_demand({4, true}, 8).optimal == 4);
static_assert(cpu_demand({8, true}, 8) == coordinator::Demand{8, 8});
static_assert(cpu_demand({4, false}, 8) == coordinator::Demand{4, 0});

}  // namespace truths

}  // namespace nigh::openmp
