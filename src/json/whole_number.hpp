// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whole numbers of JSON that anybody may have written. nlohmann's get<int>() converts any number,
// and for 1e300 that is undefined.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace nigh::json {

// Empty: no whole number from `least` to `most`.
template <class Int>
std::optional<Int> whole_number(nlohmann::json const& value, Int least, Int most) {
  auto const in_range = [&](auto n) -> std::optional<Int> {
    if (std::cmp_less(n, least) || std::cmp_greater(n, most)) return std::nullopt;
    return static_cast<Int>(n);
  };
  if (value.is_number_unsigned()) return in_range(value.get<std::uint64_t>());
  if (value.is_number_integer()) return in_range(value.get<std::int64_t>());
  return std::nullopt;
}

}  // namespace nigh::json
