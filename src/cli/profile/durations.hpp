// SPDX-License-Identifier: Apache-2.0
#pragma once
// Durations for people.

#include <fmt/format.h>

#include <string>

namespace nigh::cli {

// Three digits: "61.0 us".
inline std::string duration_text(double ns) {
  auto const three = [](double value, char const* unit) {
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
  };
  if (ns < 999.5) return fmt::format("{:.0f} ns", ns);
  if (ns < 999.5e3) return three(ns / 1e3, "us");
  if (ns < 999.5e6) return three(ns / 1e6, "ms");
  return three(ns / 1e9, "s");
}

}  // namespace nigh::cli
