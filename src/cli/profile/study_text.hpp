// SPDX-License-Identifier: Apache-2.0
#pragma once
// A study as a table for people, and as JSON lines (docs/results-schema.md).

#include <nigh/topology.hpp>
#include <string>

#include "cli/profile/study.hpp"

namespace nigh::cli {

// The place and time of the study.
struct StudyRecord {
  std::string commit = {}, machine = {}, topology = {}, date = {};
};
StudyRecord record_of(topology const& machine);

// The largest spread of a relevant region's times, with any size of team.
double widest_spread(Study const& study);

std::string study_text(Study const& study);
std::string study_json(Study const& study, StudyRecord const& record);

}  // namespace nigh::cli
