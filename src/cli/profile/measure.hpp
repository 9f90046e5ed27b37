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

// The sizes in turn, and back again, so that slow changes of the machine affect all sizes alike.
// Reports progress on standard error. Throws when the program fails or has no times, and ExitStatus
// when a signal interrupts it: half a study says little.
Study run_study(topology const& machine, StudyPlan const& plan);

}  // namespace nigh::cli
