// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace nigh::base {

// A variable of the environment that says seconds, in microseconds; negative: it says something
// else than 0 or 0.1 to 86400. Where it is not there: `unset`.
inline std::int64_t seconds_variable(char const* name, std::int64_t unset) {
  char const* const value = std::getenv(name);
  if (value == nullptr) return unset;
  std::string_view const text = value;
  double seconds = 0;
  auto const [rest, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || rest != text.data() + text.size()) return -1;
  if (seconds == 0) return 0;
  if (!(seconds >= 0.1 && seconds <= 86400)) return -1;
  return static_cast<std::int64_t>(seconds * 1'000'000);
}

}  // namespace nigh::base
