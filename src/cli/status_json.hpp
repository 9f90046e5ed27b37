// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of a coordinator, for scripts: docs/coordinator.md.

#include <nlohmann/json.hpp>
#include <string>

#include "coordinator/client/status.hpp"

namespace nigh::cli {

nlohmann::ordered_json status_json(std::string const& socket, coordinator::HostStatus const& all);

std::string text_of(nlohmann::ordered_json const& json);

// Where the program's region is, for people; empty when it has none.
std::string code_of(coordinator::Status const& program);

}  // namespace nigh::cli
