// SPDX-License-Identifier: Apache-2.0
// nigh sim allocation: the coordinator and its policies on the paper's machine.

#include "cli/sim/allocation.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/plot.hpp"
#include "cli/sim/result_lines.hpp"
#include "cli/sim/sim.hpp"

namespace nigh::cli {
namespace {

using sim::Way;

constexpr char const* figure = "sim_allocation";  // its script

struct AllocationFlags {
  std::string machine = "sun-x4600", data = "interleaved", json, plot;
  int requests = 10000, programs = 13, large = 100, at_once = 8, seeds = 5;
  std::uint64_t seed = 2010;
  bool only_requests = false, only_throughput = false;
};

void study(AllocationFlags const& f) {
  if (!f.json.empty()) check_output(f.json);
  if (!f.plot.empty()) check_figure("--plot", f.plot, figure);
  auto const machine = machine_for("--machine", f.machine);
  auto const map = machine.core_map();
  AllocationStudy s;
  if (!f.only_throughput) {
    s.request_options = {6, f.requests, f.seeds, f.seed};
    s.requests = sim::study_requests(map, s.request_options);
  }
  if (!f.only_requests) {
    sim::MeasuredPrograms const measured(machine, map);
    s.small_options = {
        f.programs,
        f.programs,
        f.seeds,
        f.seed,
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
  if (f.json == "-")
    std::fputs(text.c_str(), stderr);
  else
    write_output("-", text);
  if (!f.json.empty()) write_output(f.json, lines);
  if (!f.plot.empty()) draw_figure(f.plot, figure, lines);
}

}  // namespace

void add_sim_allocation(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "allocation", "Programs that share a host: the paper on OpenMP process scheduling");
  auto const f = std::make_shared<AllocationFlags>();
  command->add_option("--machine", f->machine, "A machine, or a file of one (sun-x4600)")
      ->type_name("NAME");
  auto const number = [&](char const* name, int& into, char const* what, int most) {
    command->add_option(name, into, what)->type_name("N")->check(CLI::Range(1, most));
  };
  number("--requests", f->requests, "So many semi-random requests (10000)", 10'000'000);
  number("--programs", f->programs, "In the small set, all at once (13)", 1000);
  number("--large", f->large, "In the large set (100)", 10'000);
  number("--at-once", f->at_once, "Of the large set, so many run at a time (8)", 1000);
  number("--seeds", f->seeds, "How often, each time with another seed (5)", 1000);
  command->add_option("--seed", f->seed, "The first one (2010)")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000));
  command->add_option("--data", f->data, "Where programs' data lies: interleaved, first-touch")
      ->type_name("HOW")
      ->check(CLI::IsMember({"interleaved", "first-touch"}));
  auto* const requests = command->add_flag("--only-requests", f->only_requests, "No programs");
  command->add_flag("--only-throughput", f->only_throughput, "No requests")->excludes(requests);
  command->add_option("--json", f->json, "Each result as a JSON line; - for standard output")
      ->type_name("FILE");
  command->add_option("--plot", f->plot, "Draw a figure, .svg or .png")->type_name("FILE");
  command->callback([f] { study(*f); });
}

}  // namespace nigh::cli
