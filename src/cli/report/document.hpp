// SPDX-License-Identifier: Apache-2.0
#pragma once
// A report's data as the page's script reads it: one JSON object, docs/results-schema.md.

#include <nigh/topology.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/findings.hpp"
#include "cli/report/next_steps.hpp"
#include "cli/report/observe.hpp"

namespace nigh::cli {

struct TunePlan {
  std::vector<std::string> next = {};  // options of the configurations that run first
  int configurations = 0;
  std::vector<std::string> notes = {};
  std::string why_not = {};
};

// The first configurations of nigh tune, if the program takes so long each time.
TunePlan tune_plan(topology const& machine, std::string const& program, double seconds);

struct ProgramReport {
  std::string title = {};
  std::vector<std::string> words = {};
  Observed const* observed = nullptr;
  std::optional<Study> study = {};
  std::string why_no_study = {};
  std::optional<TracedTasks> tasks = {};
  std::string why_no_tasks = {};
  TunePlan tune = {};
  std::vector<Finding> findings = {};
};

nlohmann::ordered_json document_of(topology const& machine, ProgramReport const& report);

// Of files: [{"name": ..., "lines": [...]}], or "profile" in place of lines.
nlohmann::ordered_json document_of_files(std::string const& title, nlohmann::ordered_json files);

}  // namespace nigh::cli
