// SPDX-License-Identifier: Apache-2.0
// nigh top: which programs hold which cpus, as it changes.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nigh/topology.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/cpu_list.hpp"
#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/coordinator_socket.hpp"
#include "cli/status_json.hpp"
#include "cli/top/layout.hpp"
#include "cli/top/live.hpp"
#include "cli/top/source.hpp"
#include "cli/top/terminal.hpp"
#include "platform/affinity.hpp"
#include "platform/terminal.hpp"

namespace nigh::cli {
namespace {

using namespace top;

struct TopOptions {
  bool once = false;
  bool json = false;
  double delay_s = View{}.delay_s;
};

constexpr int patience_ms = 2000;

// The whole machine: the cpus that we were given are no reason to show fewer.
MachineTree whole_machine() {
  std::vector<int> all(coordinator::max_cpus);
  std::iota(all.begin(), all.end(), 0);
  static_cast<void>(platform::pin_this_thread(all));
  auto const machine = topology::live();
  if (!machine) throw std::runtime_error(machine.message());
  return MachineTree::of(*machine);
}

int report_width() {
  if (int const width = platform::output_width(); width > 0) return width;
  char const* const told = std::getenv("COLUMNS");
  int const width = told != nullptr ? std::atoi(told) : 0;
  constexpr int least = 20, most = 1000, usual = 120;
  return least <= width && width <= most ? width : usual;
}

nlohmann::ordered_json json_of(Sample const& sample, MachineTree const& machine) {
  auto json = status_json(sample.socket, *sample.status);
  json["packages"] = nlohmann::ordered_json::array();
  for (auto const& package : machine.packages) {
    nlohmann::ordered_json domains = nlohmann::ordered_json::array();
    for (auto const& domain : package.domains) {
      std::vector<std::string> caches;
      for (auto const& cache : domain.caches) caches.push_back(base::cpu_list(cache));
      domains.push_back({{"name", domain.name}, {"caches", caches}});
    }
    json["packages"].push_back({{"name", package.name}, {"domains", domains}});
  }
  return json;
}

void show_once(std::string const& socket, MachineTree const& machine, bool json) {
  Source source(socket);
  source.look(patience_ms);
  auto const& sample = source.sample();
  if (!sample.status) {
    std::fprintf(stderr, "nigh: %s\n",
                 base::printable(no_coordinator(socket, sample.why_not)).c_str());
    throw ExitStatus{status_without_coordinator};
  }
  auto const& signs = signs_of_locale();
  std::fputs(
      (json ? text_of(json_of(sample, machine))
            : top::text_of(report({sample, machine, source.letters(), signs}, report_width())))
          .c_str(),
      stdout);
}

void show(TopOptions const& options) {
  if (options.json && !options.once) throw UsageError("--json: only with --once");
  if (!(options.delay_s >= least_delay_s && options.delay_s <= most_delay_s))
    throw UsageError("--delay: from 0.1 to 3600 seconds");
  auto const socket = coordinator_socket();
  auto const why_not = options.once ? std::string() : Terminal::why_not();
  if (!why_not.empty())
    std::fprintf(stderr, "nigh: top: %s: showing it once\n", base::printable(why_not).c_str());
  auto const machine = whole_machine();
  if (options.once || !why_not.empty()) return show_once(socket, machine, options.json);
  if (int const status = watch(socket, machine, options.delay_s); status != 0)
    throw ExitStatus{status};
}

}  // namespace

void add_top(CLI::App& app) {
  auto const options = std::make_shared<TopOptions>();
  auto* const command =
      app.add_subcommand("top", "Watch programs that share the host: who holds which cpus");
  command->add_flag("--once", options->once, "Print it once, as text");
  command->add_flag("--json", options->json, "--once: as JSON, for scripts");
  command->add_option("-d,--delay", options->delay_s, "Seconds between looks; 1")
      ->type_name("SECONDS");
  command->callback([options] { show(*options); });
}

}  // namespace nigh::cli
