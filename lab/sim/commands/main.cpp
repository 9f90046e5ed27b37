// SPDX-License-Identifier: Apache-2.0
// nigh-sim: the program that `nigh sim` becomes. It speaks as that command, whose words it gets.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nigh/version.hpp>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/help_format.hpp"
#include "cli/command_words.hpp"
#include "cli/installed_files.hpp"
#include "cli/output_file.hpp"
#include "cli/plot.hpp"
#include "cli/program_main.hpp"
#include "platform/progress.hpp"
#include "platform/unknown_variables.hpp"
#include "sim/commands/sim.hpp"
#include "sim/steal/task_forest.hpp"
#include "tune/standings.hpp"

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

void SimOutput::keep_apart_from(char const* argument, std::string const& input) const {
  for (auto const& [of, output] : {std::pair("--json", json), {"--plot", plot}}) {
    std::error_code unknown;
    if (!output.empty() && std::filesystem::equivalent(output, input, unknown) && !unknown &&
        std::filesystem::is_regular_file(output, unknown))
      throw UsageError(fmt::format("{}: {} is that of {}", of, output, argument));
  }
}

void SimOutput::write(std::string const& text, std::string const& lines) const {
  platform::Progress::make_way();
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

std::string json_line(SimResult const& r, sim::Machine const& machine) {
  nlohmann::ordered_json line;
  line["bench"] = r.bench;
  line["variant"] = r.variant;
  line["params"] = nlohmann::ordered_json::object();
  for (auto const& [key, value] : r.params) line["params"][key] = value;
  for (auto const& [key, value] : r.settings) line["params"][key] = value;
  line["metric"] = r.metric;
  line["unit"] = r.unit;
  auto const n = static_cast<double>(r.samples.size());
  double const mean = std::accumulate(r.samples.begin(), r.samples.end(), 0.0) / n;
  double squares = 0;
  for (double s : r.samples) squares += (s - mean) * (s - mean);
  line["median"] = tune::median(r.samples);
  line["min"] = *std::min_element(r.samples.begin(), r.samples.end());
  line["max"] = *std::max_element(r.samples.begin(), r.samples.end());
  line["mean"] = mean;
  line["deviation"] = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  line["samples"] = r.samples;
  line["counters"] = nlohmann::ordered_json::object();
  for (auto const& [key, value] : r.counters) line["counters"][key] = value;
  line["run"] = {{"version", version()},
                 {"machine", machine.title},
                 {"topology", machine.shape.description()}};
  return line.dump() + '\n';
}

// nigh sim: the product's decisions on machines that are not here.

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

int main(int argc, char** argv) {
  nigh::platform::name_unknown_variables_for_all();
  CLI::App app{"nigh runs parallel work near its data"};
  app.name("nigh");
  app.formatter(std::make_shared<nigh::base::HelpFormat>());
  nigh::cli::add_sim(app);
  return nigh::cli::run_app(app, [&] {
    std::vector<std::string> words(argv + 1, argv + argc);
    nigh::cli::check_command(*app.get_subcommand("sim"), words);
    words.insert(words.begin(), "sim");
    nigh::platform::Progress progress;
    progress.step(words.size() > 1 ? words[1] : std::string());
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // as CLI11 takes them
  });
}
