// SPDX-License-Identifier: Apache-2.0
#pragma once
// Environments that are made up, for tests of what `nigh run` passes on.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cli/run/plan.hpp"

namespace nigh::cli {

inline Inherited environment(std::map<std::string, std::string> variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    auto const found = variables.find(std::string(name));
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

inline Inherited const empty_environment = environment({});

}  // namespace nigh::cli
