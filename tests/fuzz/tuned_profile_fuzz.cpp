// SPDX-License-Identifier: Apache-2.0
// Any text for the reader of what nigh tune has found (nigh run --profile): what it takes is
// written and read again as the same.
#include <string>

#include "cli/run/profile.hpp"
#include "fuzz/entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace nigh::cli;
  MachineShape const here{"package:2 domain:2 l3:2 core:8 cpu:8", 8, 2};
  std::string const text(fuzz::text_of(data, size));
  bool const fits = static_cast<bool>(parse_profile(text, here, false));
  auto const request = parse_profile(text, here, true);
  fuzz::require(static_cast<bool>(request) || !fits, "what fits is taken by force, too");
  if (!request) {
    fuzz::require(!request.message().empty(), "a refusal has a reason");
    return 0;
  }
  auto const again = parse_profile(profile_json(*request, here), here, false);
  fuzz::require(again && *again == *request, "a profile is read again as it was written");
  return 0;
}
