// SPDX-License-Identifier: Apache-2.0
#pragma once
// Choices by their words: an enumeration counts from 0, and names[n] is the word for its n-th
// value.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace nigh::policy {

template <class Choice, std::size_t n>
constexpr std::optional<Choice> choice_named(std::array<std::string_view, n> const& names,
                                             std::string_view name) noexcept {
  for (std::size_t i = 0; i < n; ++i)
    if (names[i] == name) return static_cast<Choice>(i);
  return std::nullopt;
}

}  // namespace nigh::policy
