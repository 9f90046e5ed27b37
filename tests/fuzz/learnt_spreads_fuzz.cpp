// SPDX-License-Identifier: Apache-2.0
// Any text for the reader of files of spreads (NIGH_SPREADS), which the shim reads inside of other
// people's programs: what it takes is written and read again as the same, and a loop that goes on
// from it has a configuration.
#include <string>

#include "fuzz/entry.hpp"
#include "policy/spread/spread_choice.hpp"
#include "settings/learnt_spreads.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace nigh::settings;
  LearntSpreads lines;
  if (!parse_spreads(fuzz::text_of(data, size), lines).empty()) return 0;
  auto const text = text_of(lines);
  LearntSpreads again;
  fuzz::require(parse_spreads(text, again).empty() && text_of(again) == text,
                "spreads are read again as they were written");
  static_cast<void>(parse_spreads(text, "another machine", again));
  for (auto const& site : lines.sites) {
    nigh::policy::SpreadChoice choice({{1, 2}, {2, 4}, {1}}, {1, 1, 4}, site.found);
    for (int i = 0; i < 20; ++i) choice.took(i < 10 ? site.found.seconds : 1e-3);
    fuzz::require(choice.next().active >= 0, "there is a configuration");
  }
  for (auto const& site : lines.sites) again.put(site);
  return 0;
}
