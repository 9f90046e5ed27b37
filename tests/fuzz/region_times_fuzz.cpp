// SPDX-License-Identifier: Apache-2.0
// Any text for the reader of what the shim leaves of a process's regions (nigh profile measure).
#include "cli/profile/region_times.hpp"
#include "fuzz/entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const times = nigh::cli::parse_times(fuzz::text_of(data, size));
  if (!times) {
    fuzz::require(!times.message().empty(), "a refusal has a reason");
    return 0;
  }
  fuzz::require(times->team >= 1 && !times->program.empty(), "a process has a team and a name");
  for (auto const& region : times->regions)
    fuzz::require(region.threads >= 0 && region.runs > 0, "a region that is told of has run");
  return 0;
}
