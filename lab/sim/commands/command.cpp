// SPDX-License-Identifier: Apache-2.0
// nigh sim: the product's decisions on machines that are not here.

#include <CLI/CLI.hpp>

#include "cli/installed_files.hpp"
#include "cli/program_main.hpp"
#include "sim/commands/sim.hpp"

namespace nigh::cli {

sim::Machine machine_for(std::string const& argument, std::string const& name) {
  auto machine = sim::find_machine(name, machines_folder());
  if (!machine) throw UsageError(argument + ": " + machine.message());
  return std::move(machine).value();
}

void add_sim(CLI::App& app) {
  auto* const command =
      app.add_subcommand("sim", "Simulate nigh's decisions on other machines: nigh sim EXPERIMENT");
  command->require_subcommand(0, 1);
  add_sim_allocation(*command);
  add_sim_hotslaw(*command);
  add_sim_scale(*command);
  add_sim_table1(*command);
  add_sim_mg(*command);
  add_sim_speed(*command);
  add_sim_spread(*command);
  add_sim_temporal(*command);
  add_sim_run(*command);
  add_sim_calibrate(*command);
  add_sim_machines(*command);
  command->callback([command] {
    if (command->get_subcommands().empty())
      throw UsageError("sim: which experiment? nigh sim --help lists them");
  });
}

}  // namespace nigh::cli
