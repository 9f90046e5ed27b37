// SPDX-License-Identifier: Apache-2.0
// nigh bench: finds the benchmark drivers and becomes the one that is asked for.
//
// A driver is a program libexec/nigh/nigh-bench-NAME beside the folder this program lies in. Being
// programs of their own, drivers may need OpenMP or TBB without the command needing them.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/help_format.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/installed_files.hpp"
#include "cli/program_output.hpp"
#include "platform/program.hpp"

namespace nigh::cli {
namespace {

namespace fs = std::filesystem;

constexpr char const* prefix = "nigh-bench-";

fs::path drivers_folder() { return installed_file("libexec/nigh"); }

std::vector<std::string> driver_names(fs::path const& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (auto const& entry : fs::directory_iterator(folder, none)) {
    std::string const file = entry.path().filename().string();
    if (file.starts_with(prefix) && platform::is_runnable(entry.path()))
      names.push_back(file.substr(std::string(prefix).size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string there_are(std::vector<std::string> const& names) {
  return fmt::format("there are: {}", fmt::join(names, ", "));
}

// The beginning of the driver's help, up to an empty line or the usage; empty where it has no help.
std::string description(fs::path const& driver) {
  ProgramOutput const output;
  auto const status = platform::run_program(
      {"sh", "-c", "exec \"$0\" --help >\"$1\" 2>&1", driver.string(), output.path().string()}, {});
  if (!status || *status != 0) return {};
  std::istringstream lines(output.text());
  std::vector<std::string> said;
  for (std::string line; std::getline(lines, line) && !line.empty() && !line.starts_with("Usage:");)
    said.push_back(base::printable(line));
  return fmt::format("{}", fmt::join(said, " "));
}

void list(fs::path const& folder, std::vector<std::string> const& names) {
  fmt::print("benchmarks:\n");
  std::size_t width = 0;
  for (auto const& name : names) width = std::max(width, name.size());
  for (auto const& name : names) {
    auto const column = width + 4;
    auto const said =
        base::HelpFormat::wrapped(description(folder / (prefix + name)), column, column);
    if (said.empty())
      fmt::print("  {}\n", name);
    else
      fmt::print("  {:<{}}  {}", name, width, said);
  }
  fmt::print("nigh bench NAME --help tells what one takes\n");
}

}  // namespace

std::vector<std::string> bench_names() { return driver_names(drivers_folder()); }

void add_bench(CLI::App& app) {
  auto* command = app.add_subcommand(
      "bench", "Measure this machine: nigh bench NAME ARGUMENTS...; without NAME, list them");
  auto const words = std::make_shared<std::vector<std::string>>();
  // All words after `bench` are for the driver, even --help.
  command->prefix_command();
  command->callback([command, words] {
    auto const folder = drivers_folder();
    auto const names = driver_names(folder);
    if (names.empty())
      throw UsageError(fmt::format("bench: no benchmarks in {}; {}them", folder.string(), who_has_more));
    *words = command->remaining();
    if (words->empty()) return list(folder, names);
    std::string const name = words->front();
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UsageError(fmt::format("bench: no benchmark '{}'{}", name,
                                   base::did_you_mean(name, names, there_are(names))));
    words->erase(words->begin());
    throw std::runtime_error(platform::become(folder / (prefix + name), *words).message);
  });
}

}  // namespace nigh::cli
