// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a program with every size of team, again and again.

#include <nigh/topology.hpp>
#include <string>
#include <vector>

#include "cli/profile/study.hpp"

namespace nigh::cli {

struct StudyPlan {
  std::vector<std::string> words = {};  // the program and its arguments
  std::vector<int> sizes = {};          // of teams, ascending
  int repetitions = 3;
};

// In turn, and back again, so that what changes slowly on the machine meets all sizes alike. Tells
// progress on standard error. Throws when the program fails or has no times, and ExitStatus when
// we are interrupted: half a study says little.
Study run_study(topology const& machine, StudyPlan const& plan);

}  // namespace nigh::cli
