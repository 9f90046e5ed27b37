// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by the entries that libFuzzer, or a driver, calls: their declaration, and their message
// when a promise is broken.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace fuzz {

inline std::string_view text_of(std::uint8_t const* data, std::size_t size) {
  return size == 0 ? std::string_view()
                   : std::string_view(reinterpret_cast<char const*>(data), size);
}

// Ends the program: that is what a fuzzer takes for a finding.
inline void require(bool kept, char const* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

}  // namespace fuzz
