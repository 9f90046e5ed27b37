// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sizes of problems as people type them.

#include <charconv>
#include <stdexcept>
#include <string>

namespace workloads {

// The whole text as a number from `least` to `most`, else std::invalid_argument.
inline long number(std::string const& text, long least, long most) {
  long n = 0;
  char const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc() || stop != end || n < least || n > most)
    throw std::invalid_argument("\"" + text + "\" is not a number from " + std::to_string(least) +
                                " to " + std::to_string(most));
  return n;
}

}  // namespace workloads
