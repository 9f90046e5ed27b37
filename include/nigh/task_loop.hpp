// SPDX-License-Identifier: Apache-2.0
#pragma once
// task_loop(blocks, body): calls the body for every block, each with a team of workers; as many
// blocks at a time as there are teams.

#include <nigh/detail/cxx20.hpp>

#include <cstddef>
#include <nigh/detail/export.hpp>
#include <nigh/spread.hpp>
#include <nigh/team.hpp>
#include <optional>
#include <type_traits>

namespace nigh {

struct task_loop_options {
  // How many workers work on one block. None: automatic where a site is named, else 1.
  std::optional<nigh::spread> spread = {};
  // How many workers are at work at once, in all teams; 0: all. Fewer than there are cores are
  // enough for loops that wait for memory; they are evenly spread over the domains, and over the
  // caches in each. One worker per core while that is enough.
  int active = 0;
  bool smt = true;  // false: at most one worker per core
  // So many consecutive blocks count as one: the body is called once for all of them, if it takes
  // an index_range. 0: 1.
  std::size_t grain = 0;
  // This loop in the program, for spread::automatic, which then also chooses how many workers are
  // at work.
  spread_site* site = nullptr;
  // Which team gets which blocks? None: a team has as many as its workers' share, consecutive ones.
  // local_schedule(array, elements_per_block): those that lie in its domain. No other kind.
  std::optional<schedule> how = {};
  stop_token stop = {};      // asked before each block; when it is set, the loop ends early
  runtime* where = nullptr;  // null: the calling worker's, else the default one
};

namespace detail {

struct team_work {
  void* self;
  bool (*run)(void* self, index_range blocks, team const& members);  // false: leave. May throw
};
NIGH_API void run_task_loop(std::size_t blocks, task_loop_options const& options, team_work work);

template <class Body>
struct team_blocks {
  Body const& body;

  static constexpr bool by_index = std::is_invocable_v<Body const&, std::size_t, team const&>;
  static_assert(std::disjunction_v<std::bool_constant<by_index>,
                                   std::is_invocable<Body const&, index_range, team const&>>,
                "a task loop's body takes a block's index or a nigh::index_range, and a "
                "nigh::team const&, and is called as const");

  static bool run(void* self, index_range blocks, team const& members) {
    auto const& body = static_cast<team_blocks const*>(self)->body;
    auto const call = [&](auto what) {
      using value = std::invoke_result_t<Body const&, decltype(what), team const&>;
      static_assert(std::is_void_v<value> || std::is_same_v<value, loop_flow>,
                    "a task loop's body returns void or nigh::loop_flow");
      if constexpr (std::is_void_v<value>) {
        body(what, members);
        return true;
      } else {
        return body(what, members) == loop_flow::go_on;
      }
    };
    if constexpr (by_index) {
      for (auto b = blocks.begin; b < blocks.end; ++b)
        if (!call(b)) return false;
      return true;
    } else {
      return call(blocks);
    }
  }
};

}  // namespace detail

// Calls body(block, team) for every block of [0, blocks), and returns when all have returned.
//
//   nigh::task_loop(blocks, [&](std::size_t block, nigh::team const& team) {
//     team.parallel_for(first_row(block), last_row(block), [&](int row) { ... });
//   }, {.spread = nigh::spread(4)});
//
// The workers are divided into teams of `spread` workers near each other: in one cache, one domain,
// one package as far as they fit; where the division leaves a rest, some teams have one worker
// less. Spread 1: as many blocks at a time as there are workers. spread::all, or more than there
// are: one block at a time. All options may differ from one task loop to the next: no thread is
// started or moved for that.
//
// Blocks are divided once: consecutive ones go to consecutive teams, and each block to the same
// workers with any spread, so that data that was first touched in such a loop stays near. Only a
// team with nothing left takes a block of another, from the end of the nearest that has some.
//
// A body may return void or loop_flow. When it throws, in a leader or in another member, no further
// block is begun, and the first exception is rethrown here when all have ended.
//
// The caller takes part, as the leader of the team where it sits. Task loops nest, also in tasks,
// in loops and in each other; a team's workers run other tasks while they wait, so hold no lock in
// a body that such a task may want.
//
// std::invalid_argument names the option that makes no sense.
template <class Body>
void task_loop(std::size_t blocks, Body const& body, task_loop_options const& options = {}) {
  detail::team_blocks<Body> all{body};
  detail::run_task_loop(blocks, options, {&all, &detail::team_blocks<Body>::run});
}

}  // namespace nigh
