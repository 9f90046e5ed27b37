// SPDX-License-Identifier: Apache-2.0
#include "tune/choice.hpp"

#include "base/assert.hpp"
#include "tune/standings.hpp"

namespace nigh::tune {
namespace {

constexpr double reliable = 0.9;  // below, a difference is within the spread

}  // namespace

Choice choose(std::span<Measured const> measured, std::uint64_t seed) {
  auto const table = standings(measured, seed);
  NIGH_ASSERT(!table.empty(), "something was measured");
  auto const& first = measured.front();
  auto const& best = table.front();
  Choice choice;
  choice.leader = choice.candidate = best.candidate;
  choice.is_repeated = best.runs > 1;
  for (auto const& s : table)
    if (s.candidate != best.candidate && s.candidate != 0 &&
        !measured[static_cast<std::size_t>(s.candidate)].lost &&
        chance_below(measured, best.candidate, s.candidate, seed) < reliable)
      ++choice.ties;
  if (best.candidate == 0 || !first.known()) return choice;
  choice.times = undisturbed(first.costs) / best.cost;
  choice.chance = chance_of_gain(measured, best.candidate, seed);
  choice.is_repeated = choice.is_repeated && first.costs.size() > 1;
  choice.is_tie = choice.chance < reliable;
  if (choice.is_tie) choice.candidate = 0;
  return choice;
}

}  // namespace nigh::tune
