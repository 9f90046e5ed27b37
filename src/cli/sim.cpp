// SPDX-License-Identifier: Apache-2.0
// nigh sim: becomes the program of the simulator, libexec/nigh/nigh-sim. The command links no
// simulator.

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/installed_files.hpp"
#include "platform/program.hpp"

namespace nigh::cli {

std::vector<std::string> experiment_names() {
  if (!platform::is_runnable(libexec_file("nigh-sim"))) return {};
  // The program has them too; cli_completion compares both.
  return {"allocation", "hotslaw", "scale", "table1", "mg", "speed",
          "spread", "temporal", "run", "calibrate", "machines"};
}

void add_sim(CLI::App& app) {
  auto* const command =
      app.add_subcommand("sim", "Simulate nigh's decisions on other machines: nigh sim EXPERIMENT");
  command->prefix_command();   // all further words are the program's
  command->set_help_flag("");  // --help too
  command->callback([command] {
    auto const program = libexec_file("nigh-sim");
    if (!platform::is_runnable(program))
      throw std::runtime_error("sim: this nigh came without its simulator, " + program.string());
    throw std::runtime_error(platform::become(program, command->remaining()).message);
  });
}

}  // namespace nigh::cli
