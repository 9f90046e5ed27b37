// SPDX-License-Identifier: Apache-2.0
#pragma once
// The experiments below `nigh sim`.

#include <string>

#include "sim/machine.hpp"

namespace CLI {
class App;
}

namespace nigh::cli {

void add_sim(CLI::App& app);  // all of them
void add_sim_allocation(CLI::App& sim);
void add_sim_calibrate(CLI::App& sim);
void add_sim_hotslaw(CLI::App& sim);
void add_sim_machines(CLI::App& sim);
void add_sim_mg(CLI::App& sim);
void add_sim_run(CLI::App& sim);
void add_sim_scale(CLI::App& sim);
void add_sim_speed(CLI::App& sim);
void add_sim_spread(CLI::App& sim);
void add_sim_table1(CLI::App& sim);
void add_sim_temporal(CLI::App& sim);

// A machine by its name or file; UsageError naming the argument when it is none.
sim::Machine machine_for(std::string const& argument, std::string const& name);

}  // namespace nigh::cli
