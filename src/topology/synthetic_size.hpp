// SPDX-License-Identifier: Apache-2.0
#pragma once
// The size of a machine in hwloc's synthetic notation, before hwloc builds it: that may take
// minutes.

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace nigh {

// May it ask for more cpus than that? Counts all levels as if each had cpus of its own.
inline bool asks_for_more_cpus(std::string_view description, unsigned long most) {
  unsigned long product = 1;
  int depth = 0;  // of parentheses: attributes
  for (std::size_t i = 0; i < description.size(); ++i) {
    if (description[i] == '(') ++depth;
    if (description[i] == ')') --depth;
    bool const starts = i == 0 || description[i - 1] == ':' || description[i - 1] == ' ';
    if (depth > 0 || !starts || std::isdigit(static_cast<unsigned char>(description[i])) == 0)
      continue;
    auto const digits = description.substr(i, description.find_first_not_of("0123456789", i) - i);
    if (digits.size() > 9) return true;
    product *= std::max(1UL, std::stoul(std::string(digits)));
    if (product > most) return true;
  }
  return false;
}

}  // namespace nigh
