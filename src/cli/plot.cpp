// SPDX-License-Identifier: Apache-2.0
#include "cli/plot.hpp"

#include <filesystem>
#include <stdexcept>

#include "cli/commands.hpp"
#include "cli/installed_files.hpp"
#include "cli/output_file.hpp"
#include "platform/figure.hpp"

namespace nigh::cli {
namespace {

std::filesystem::path script_path(std::string const& script) {
  return libexec_file("plots/" + script + ".py");
}

}  // namespace

void check_figure(std::string const& option, std::string const& file, std::string const& script) {
  if (auto const why = platform::why_no_figure(file, script_path(script)); !why.empty())
    throw UsageError(option + ": " + why);
  check_output(file);
}

void draw_figure(std::string const& file, std::string const& script, std::string const& lines) {
  auto const drawn = platform::draw_figure(file, script_path(script), lines);
  if (!drawn) throw std::runtime_error(drawn.message());
}

}  // namespace nigh::cli
