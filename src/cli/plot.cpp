// SPDX-License-Identifier: Apache-2.0
#include "cli/plot.hpp"

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/installed_files.hpp"
#include "cli/output_file.hpp"
#include "cli/program_output.hpp"
#include "platform/program.hpp"

namespace nigh::cli {
namespace {

std::string script_path(std::string const& script) {
  return libexec_file("plots/" + script + ".py").string();
}

}  // namespace

void check_figure(std::string const& option, std::string const& file, std::string const& script) {
  if (!file.ends_with(".svg") && !file.ends_with(".png"))
    throw UsageError(option + ": " + file + " is neither .svg nor .png");
  check_output(file);
  if (!std::filesystem::exists(script_path(script)))
    throw UsageError(option + ": " + script_path(script) + " is missing");
  if (platform::python_with("matplotlib").empty())
    throw UsageError(option + ": needs matplotlib (Debian: apt install python3-matplotlib)");
}

void draw_figure(std::string const& file, std::string const& script, std::string const& lines) {
  ProgramOutput const data;
  write_output(data.path().string(), lines);
  auto const status = platform::run_program(
      {platform::python_with("matplotlib"), "-B", script_path(script), data.path().string(), file},
      {});
  if (!status || *status != 0) throw std::runtime_error(file + ": the figure could not be drawn");
}

}  // namespace nigh::cli
