// SPDX-License-Identifier: Apache-2.0
// Any text for the reader of profiles of regions: it refuses it with a reason, or takes it for a
// profile that is written and read again as the same.
#include "coordinator/profile/region_profile.hpp"
#include "fuzz/entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace nigh::coordinator;
  auto const text = fuzz::text_of(data, size);
  if (auto const region = parse_region(text))
    fuzz::require(parse_region(region_name(*region)) == region, "a region's name is read again");
  auto const profile = parse_profile(text);
  if (!profile) {
    fuzz::require(!profile.message().empty(), "a refusal has a reason");
    return 0;
  }
  auto const again = parse_profile(profile_text(*profile));
  fuzz::require(again && *again == *profile, "a profile is read again as it was written");
  return 0;
}
