// SPDX-License-Identifier: Apache-2.0
#include "sim/commands/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cli/output_file.hpp"
#include "cli/plot.hpp"
#include "sim/steal/task_forest.hpp"

namespace nigh::cli {

void SimOutput::add_to(CLI::App& command) {
  command.add_option("--json", json, "Each result as a JSON line; - for standard output")
      ->type_name("FILE");
  if (figure != nullptr)
    command.add_option("--plot", plot, "Draw a figure, .svg or .png")->type_name("FILE");
}

void SimOutput::check() const {
  if (!json.empty()) check_output(json);
  if (!plot.empty()) check_figure("--plot", plot, figure);
}

void SimOutput::write(std::string const& text, std::string const& lines) const {
  if (json == "-")
    std::fputs(text.c_str(), stderr);
  else
    write_output("-", text);
  if (!json.empty()) write_output(json, lines);
  if (!plot.empty()) draw_figure(plot, figure, lines);
}

void SimSeeds::add_to(CLI::App& command) {
  command
      .add_option("--seeds", seeds,
                  fmt::format("How often, each time with another seed ({})", seeds))
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  add_seed(command, seed, "The first one");
}

void add_machine(CLI::App& command, std::string& into) {
  command.add_option("--machine", into, fmt::format("A machine, or a file of one ({})", into))
      ->type_name("NAME");
}

std::function<std::string(std::string const&)> not_nan() {
  return [](std::string const& text) {
    bool const is_nan = std::isnan(std::strtod(text.c_str(), nullptr));
    return is_nan ? "Value " + text + " is no number" : std::string();
  };
}

void add_tree(CLI::App& command, std::string& into) {
  auto const names = sim::uts_names();
  command
      .add_option("--tree", into,
                  fmt::format("A tree of UTS: {} ({})", fmt::join(names, ", "), into))
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
}

void add_seed(CLI::App& command, std::uint64_t& into, std::string const& what) {
  command.add_option("--seed", into, fmt::format("{} ({})", what, into))
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000));
}

}  // namespace nigh::cli
