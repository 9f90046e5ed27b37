// SPDX-License-Identifier: Apache-2.0
// nigh sim allocation: the coordinator and its policies on the paper's machine.

#include "sim/commands/allocation.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "cli/program_main.hpp"
#include "sim/commands/options.hpp"
#include "sim/commands/result_lines.hpp"
#include "sim/commands/sim.hpp"

namespace nigh::cli {
namespace {

using sim::Way;

constexpr int paper_programs = 6;  // that ask for cpus

struct AllocationFlags {
  std::string machine = "sun-x4600", data = "interleaved";
  int requests = 10000, programs = 13, large = 100, at_once = 8;
  SimSeeds random{5, 2010};
  bool only_requests = false, only_throughput = false;
  SimOutput output{"sim_allocation", {}, {}};
};

void study(AllocationFlags const& f) {
  f.output.check();
  auto const machine = machine_for("--machine", f.machine);
  auto const map = machine.core_map();
  AllocationStudy s;
  if (!f.only_throughput) {
    // Each program keeps its master's cpu, and there must be one to hand out.
    int const programs = std::min(paper_programs, map.size() - 1);
    if (programs < 1)
      throw UsageError(
          fmt::format("--machine: {} has one cpu, which nobody can ask for", machine.name));
    s.request_options = {programs, f.requests, f.random.seeds, f.random.seed};
    s.requests = sim::study_requests(map, s.request_options);
  }
  if (!f.only_requests) {
    sim::MeasuredPrograms const measured(machine, map);
    s.small_options = {
        f.programs,
        f.programs,
        f.random.seeds,
        f.random.seed,
        f.data == "interleaved" ? sim::DataPlace::interleaved : sim::DataPlace::first_touch,
        {Way::sequential, Way::standard, Way::fixed, Way::simple, Way::nearest, Way::clustered,
         Way::adjusting, Way::learning}};
    s.large_options = s.small_options;
    s.large_options.programs = f.large;
    s.large_options.at_once = f.at_once;
    s.large_options.ways = {Way::sequential, Way::simple, Way::nearest, Way::adjusting};
    for (auto [cells, options] :
         {std::pair{&s.small, &s.small_options}, std::pair{&s.large, &s.large_options}}) {
      auto found = sim::study_set(machine, map, measured, *options);
      if (!found) throw std::runtime_error("sim: " + found.message());
      *cells = std::move(found).value();
    }
  }
  auto const lines = result_lines(s, machine);
  auto const text = describe(s, machine);
  f.output.write(text, lines);
}

}  // namespace

void add_sim_allocation(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "allocation", "Programs that share a host: the paper on OpenMP process scheduling");
  auto const f = std::make_shared<AllocationFlags>();
  add_machine(*command, f->machine);
  auto const number = [&](char const* name, int& into, char const* what, int most) {
    command->add_option(name, into, what)->type_name("N")->check(CLI::Range(1, most));
  };
  number("--requests", f->requests, "So many semi-random requests (10000)", 10'000'000);
  number("--programs", f->programs, "In the small set, all at once (13)", 1000);
  number("--large", f->large, "In the large set (100)", 10'000);
  number("--at-once", f->at_once, "Of the large set, so many run at a time (8)", 1000);
  f->random.add_to(*command);
  command->add_option("--data", f->data, "Where programs' data lies: interleaved, first-touch")
      ->type_name("HOW")
      ->check(CLI::IsMember({"interleaved", "first-touch"}));
  auto* const requests = command->add_flag("--only-requests", f->only_requests, "No programs");
  command->add_flag("--only-throughput", f->only_throughput, "No requests")->excludes(requests);
  f->output.add_to(*command);
  command->callback([f] { study(*f); });
}

}  // namespace nigh::cli
