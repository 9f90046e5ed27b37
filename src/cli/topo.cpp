// SPDX-License-Identifier: Apache-2.0
// nigh topo: the machine as nigh sees it.

#include "cli/topo.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/top/terminal.hpp"

namespace nigh::cli {
namespace {

struct TopoOptions {
  std::string synthetic;
  std::string xml;
  std::string svg;
  bool json = false;
};

topology read_machine(CLI::App const& command, TopoOptions const& options) {
  auto read = [&] {
    if (command.count("--synthetic") > 0) return topology::from_synthetic(options.synthetic);
    if (command.count("--xml") > 0) return topology::from_xml(options.xml);
    return topology::live();
  }();
  if (read) return std::move(read).value();
  for (auto const* flag : {"--synthetic", "--xml"})
    if (command.count(flag) > 0) throw UsageError(std::string(flag) + ": " + read.message());
  throw std::runtime_error(read.message());
}

void show(CLI::App const& command, TopoOptions const& options) {
  auto const machine = read_machine(command, options);
  bool const draw = command.count("--svg") > 0;
  if (draw) write_output(options.svg, topo_svg(machine));
  if (options.json)
    write_output("-", topo_json(machine));
  else if (!draw)
    write_output("-", topo_text(machine, top::signs_of_locale()));
}

}  // namespace

void add_topo(CLI::App& app) {
  auto const options = std::make_shared<TopoOptions>();
  auto* const command =
      app.add_subcommand("topo", "Show the machine: domains, caches, allowed cpus, distances");
  command->add_flag("--json", options->json, "Print it as JSON");
  command->add_option("--svg", options->svg, "Draw it into this file (- for standard output)")
      ->type_name("FILE");
  auto* const synthetic = command
                              ->add_option("--synthetic", options->synthetic,
                                           "Another machine, e.g. \"pack:4 numa:1 core:2 pu:1\"")
                              ->type_name("DESCRIPTION");
  command->add_option("--xml", options->xml, "Another machine, from an hwloc XML file")
      ->type_name("FILE")
      ->excludes(synthetic);
  command->callback([command, options] { show(*command, *options); });
}

}  // namespace nigh::cli
