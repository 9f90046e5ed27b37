// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of a study, of the commands that make one.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nigh::cli {

struct StudyRuns {
  std::string threads = {};
  int repetitions = 3;
};

// --threads and --repetitions; `runs` must live as long as the command.
void add_study_options(CLI::App& command, StudyRuns& runs);

// As --threads says, otherwise the usual ones.
std::vector<int> team_sizes(CLI::App const& command, StudyRuns const& runs, int cpus);

}  // namespace nigh::cli
