// SPDX-License-Identifier: Apache-2.0
// docs/cluster.md shows the variables.
#include "cluster/settings.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace nigh::cluster {
namespace {

void read_switches(Settings& settings) {
  std::ifstream file(settings.options.switches);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  settings.switches = text.str();
  if (settings.switches.empty())
    settings.complaint = "cannot read switches from " + settings.options.switches;
}

}  // namespace

Settings settings_from_environment(session_options options, int rank) {
  Settings settings{std::move(options), {}, {}};
  if (char const* const file = std::getenv("NIGH_SWITCHES")) settings.options.switches = file;
  if (rank == 0 && !settings.options.switches.empty()) read_switches(settings);
  return settings;
}

}  // namespace nigh::cluster
