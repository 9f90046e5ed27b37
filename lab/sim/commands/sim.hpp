// SPDX-License-Identifier: Apache-2.0
#pragma once
// The experiments below `nigh sim`.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

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

// Options that experiments share.

// Where results go: text to standard output, JSON lines to a file, a figure of them to another.
struct SimOutput {
  char const* figure = nullptr;  // its script, if there is one
  std::string json, plot;

  void add_to(CLI::App& command);
  void check() const;  // before what takes long
  // UsageError where results would replace an input.
  void keep_apart_from(char const* argument, std::string const& input) const;
  // With "-" for the lines, the text goes to standard error.
  void write(std::string const& text, std::string const& lines) const;
};

struct SimSeeds {
  int seeds = 5;
  std::uint64_t seed = 1;  // the first one

  void add_to(CLI::App& command);
};

// --machine NAME, which `into` already is the usual one of.
void add_machine(CLI::App& command, std::string& into);
// Of an option: refuses "nan", which lies in every CLI::Range.
std::function<std::string(std::string const&)> not_nan();
// --tree NAME, of UTS, likewise.
void add_tree(CLI::App& command, std::string& into);
// --seed N, of an experiment that has but one.
void add_seed(CLI::App& command, std::uint64_t& into, std::string const& what);

}  // namespace nigh::cli

namespace nigh::cli {

// Results of simulations as JSON lines (docs/results-schema.md). Without a date or a host: the same
// simulation gives the same bytes.

struct SimResult {
  std::string bench, variant;
  std::map<std::string, long> params;
  std::map<std::string, std::string> settings;  // params that are words
  std::string metric, unit;
  std::vector<double> samples;  // one a seed
  std::map<std::string, double> counters;
};

std::string json_line(SimResult const& result, sim::Machine const& machine);

}  // namespace nigh::cli
