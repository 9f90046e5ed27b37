// SPDX-License-Identifier: Apache-2.0
#pragma once
// What should a person do first about a program on this machine? Measurements and findings in, a
// ranked list out: nothing is read here.

#include <optional>
#include <string>
#include <vector>

#include "cli/findings.hpp"
#include "cli/profile/study.hpp"

namespace nigh::cli {

struct Measured {
  std::vector<std::string> words = {};  // the program and its arguments
  int cpus = 0, domains = 0;            // allowed
  double seconds = 0, cpu_seconds = 0;  // of the run that was watched
  std::uint64_t migrations = 0;
  double remote_pages = 0;  // share of them that lies in domains other than the busiest one
  std::optional<Study> study = {};
  // Of tasks: none were traced.
  std::uint64_t tasks = 0, far_steals = 0, steals = 0;
  double mean_task_ns = 0;
  double seconds_with_our_tasks = 0;  // of a run whose OpenMP tasks nigh ran; 0: there was none
  int configurations = 0;             // that nigh tune knows for it
  std::vector<Finding> findings = {};
};

struct Step {
  std::string title;
  std::string why;
  std::string command;  // to type; empty: it is said in words
};

// The step that promises most comes first: those with a measured gain, then other measurements,
// then the findings, as doctor ranks them. Before all of these: that others disturb the measuring.
std::vector<Step> next_steps(Measured const& m);

}  // namespace nigh::cli
