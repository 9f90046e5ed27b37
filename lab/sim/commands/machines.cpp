// SPDX-License-Identifier: Apache-2.0
// nigh sim machines: which machines there are, and where each of their numbers comes from.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/installed_files.hpp"
#include "cli/output_file.hpp"
#include "cli/program_main.hpp"
#include "platform/program.hpp"
#include "sim/commands/sim.hpp"

namespace nigh::cli {

namespace {

std::string list() {
  auto const folder = machines_folder();
  auto const names = sim::machine_names(folder);
  if (names.empty()) return fmt::format("no machines in {}\n", folder.string());
  std::string text = fmt::format("{:16}  {:>4}  {:>7}  {:>4}  {}\n", "machine", "cpus", "domains",
                                 "hops", "what it is");
  for (auto const& name : names) {
    auto const m = machine_for("machines", name);
    text += fmt::format("{:16}  {:>4}  {:>7}  {:>4}  {}\n", name, m.shape.cpus().size(),
                        m.links.domains(), m.links.diameter(), m.title);
  }
  return text + fmt::format(
                    "nigh sim machines NAME tells where its numbers come from; they lie in "
                    "{}\n",
                    folder.string());
}

std::string describe(sim::Machine const& m) {
  std::string text = fmt::format("{}\n{}\n  {}\n", m.title, m.shape.description(), m.shape_source);
  if (m.links.directed_links() > 0) {
    text += fmt::format("links, hops from domain (row) to domain (column)\n  {}\n", m.links_source);
    for (int a = 0; a < m.links.domains(); ++a) {
      text += fmt::format("  {:>4}", a);
      for (int b = 0; b < m.links.domains(); ++b) text += fmt::format("{:>4}", m.links.hops(a, b));
      text += '\n';
    }
  }
  for (auto const& [name, number] : m.numbers())
    text += fmt::format("{:26}  {:>8g}  {}\n", name, number.value, number.source);
  return text;
}

}  // namespace

void add_sim_machines(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "machines", "List the machines there are; with NAME, tell where its numbers come from");
  auto const name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "A machine, or a file of one")->type_name("");
  command->callback([name] {
    write_output("-", name->empty() ? list() : describe(machine_for("machines", *name)));
  });
}

// nigh sim calibrate: becomes the program that measures this machine, libexec/nigh/nigh-calibrate.
// Being one of the benchmarks' programs, it has their copies and threads.

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
