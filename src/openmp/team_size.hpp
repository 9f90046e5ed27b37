// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many threads a region is to have: a decision on plain numbers.
//
//   said by the program                 without a lease    with one of n cpus
//   ----------------------------------  -----------------  -----------------------------------
//   nothing, OMP_NUM_THREADS,           as it says         at most n
//   omp_set_num_threads()
//   num_threads(k)                      k                  k, on n cpus: code that names a number
//                                                          may count on it, and the standard lets
//                                                          it unless dyn-var is true
//   num_threads(k), OMP_DYNAMIC=true    at most k          at most n
//   nothing, and needs a whole team     as it says         as it says, on n cpus
//
// NIGH_OPENMP_ADJUST=all treats every clause as if OMP_DYNAMIC were true; =nests as well, and those
// of regions that hold others, or are held, as if they were not there (nests.hpp); =none adjusts
// nothing, and only places.

#include <algorithm>
#include <cstdint>

#include "coordinator/protocol/message.hpp"

namespace nigh::openmp {

enum class Adjust : std::uint8_t { none, without_clause, all, nests };

struct Wish {
  std::uint32_t threads = 0;  // never more
  bool is_exact = false;      // nor less

  constexpr bool operator==(Wish const&) const = default;
};

// What num_threads says of a region.
struct Clause {
  std::uint32_t threads = 0;  // 0: there is none
  bool is_strict = false;     // OpenMP 6: an error to have another number
};

struct Limits {
  Clause clause{};
  std::uint32_t maximum = 1;  // nthreads-var: omp_get_max_threads()
  std::uint32_t thread_limit = 1;
  bool is_dynamic = false;  // dyn-var
  bool is_whole = false;    // goes wrong with less than its maximum
};

constexpr Wish wish(Limits const& l, Adjust adjust) noexcept {
  auto const asked = l.clause.threads != 0 ? l.clause.threads : l.maximum;
  bool const is_said = l.clause.threads != 0 && !l.is_dynamic && adjust < Adjust::all;
  return {std::max(1U, std::min(asked, l.thread_limit)),
          is_said || l.clause.is_strict || l.is_whole || adjust == Adjust::none};
}

// The clause of a region that holds others, or is held.
constexpr Clause heeded(Clause clause, Adjust adjust) noexcept {
  return adjust == Adjust::nests && !clause.is_strict ? Clause{} : clause;
}

// Whom the program leaves the choice to learns what a region can use, up to a number that the
// program may have set; otherwise he is told.
constexpr coordinator::Demand demand(Wish w, std::uint32_t cpus) noexcept {
  auto const threads = std::min<std::uint32_t>(w.threads, coordinator::max_cpus);
  if (w.is_exact) return {threads, threads};
  if (threads >= cpus) return {};
  return {threads, 0};
}

constexpr std::uint32_t team_size(Wish w, std::uint32_t granted) noexcept {
  return granted == 0 || w.is_exact ? w.threads : std::min(w.threads, granted);
}

static_assert(wish({{}, 8, 100, false}, Adjust::without_clause) == Wish{8, false});
static_assert(wish({{4, false}, 8, 100, false}, Adjust::without_clause) == Wish{4, true});
static_assert(wish({{4, false}, 8, 100, true}, Adjust::without_clause) == Wish{4, false});
static_assert(wish({{4, false}, 8, 100, false}, Adjust::all) == Wish{4, false});
static_assert(wish({{4, true}, 8, 100, true}, Adjust::all) == Wish{4, true});
static_assert(wish({heeded({4, false}, Adjust::nests), 8, 100, false}, Adjust::nests) ==
              Wish{8, false});
static_assert(wish({{}, 8, 3, false}, Adjust::none) == Wish{3, true});
static_assert(wish({{}, 8, 100, false, true}, Adjust::all) == Wish{8, true});
static_assert(team_size({8, false}, 2) == 2 && team_size({8, true}, 2) == 8);
static_assert(team_size({2, false}, 4) == 2 && team_size({8, false}, 0) == 8);
static_assert(!demand({8, false}, 8).is_known() && demand({4, true}, 8).optimal == 4);
static_assert(demand({4, false}, 8) == coordinator::Demand{4, 0});

}  // namespace nigh::openmp
