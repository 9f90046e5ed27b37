// SPDX-License-Identifier: Apache-2.0
// Any text for the reader of recorded runs (nigh sim run --trace); what it takes is played on a
// machine.
#include <algorithm>
#include <string>

#include "fuzz/entry.hpp"
#include "sim/replay/recorded.hpp"
#include "sim/replay/replay.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace nigh::sim;
  static Machine const machine = find_machine("nehalem-2x4", NIGH_MACHINES).value();
  auto const run = parse_recorded(std::string(fuzz::text_of(data, size)));
  if (!run) {
    fuzz::require(!run.message().empty(), "a refusal has a reason");
    return 0;
  }
  fuzz::require(!run->pieces.empty(), "a run that is taken has done something");
  for (std::size_t i = 0; i < run->pieces.size(); ++i) {
    auto const& piece = run->pieces[i];
    fuzz::require(piece.parent < static_cast<int>(i), "parents come first");
    fuzz::require(piece.seconds >= 0 && piece.bytes >= 0, "pieces take time");
  }
  constexpr std::size_t quickly_played = 500;
  if (run->pieces.size() > quickly_played) return 0;
  auto const& policies = replay_policies();
  auto const& policy = policies[size % policies.size()];
  auto const outcome = replay(*run, {machine, machine, 4}, policy, 1);
  fuzz::require(outcome.seconds >= 0, "a run takes time");
  return 0;
}
