// SPDX-License-Identifier: Apache-2.0
// nigh sim calibrate: becomes the program that measures this machine, libexec/nigh/nigh-calibrate.
// Being one of the benchmarks' programs, it has their copies and threads.

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "cli/installed_files.hpp"
#include "cli/program_main.hpp"
#include "platform/program.hpp"
#include "sim/commands/sim.hpp"

namespace nigh::cli {

void add_sim_calibrate(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "calibrate", "Measure this machine and write its file: nigh sim calibrate [--output FILE]");
  command->prefix_command();   // all that follows is the program's
  command->set_help_flag("");  // --help too
  command->callback([command] {
    auto const program = libexec_file("nigh-calibrate");
    throw std::runtime_error(platform::become(program, command->remaining()).message);
  });
}

}  // namespace nigh::cli
