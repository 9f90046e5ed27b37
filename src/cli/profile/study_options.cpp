// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/study_options.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/profile/team_sizes.hpp"
#include "cli/program_main.hpp"

namespace nigh::cli {

void add_study_options(CLI::App& command, StudyRuns& runs) {
  command
      .add_option("--threads", runs.threads,
                  "Sizes of teams, as 1,2,4 or 1..8 (all up to 8, some up to the number of cpus)")
      ->type_name("LIST");
  command.add_option("--repetitions", runs.repetitions, "Runs with each size (3)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
}

std::vector<int> team_sizes(CLI::App const& command, StudyRuns const& runs, int cpus) {
  if (command.count("--threads") == 0) return usual_team_sizes(cpus);
  auto sizes = parse_team_sizes(runs.threads, cpus);
  if (!sizes) throw UsageError("--threads: " + sizes.message());
  return std::move(sizes).value();
}

}  // namespace nigh::cli
