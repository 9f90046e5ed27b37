// SPDX-License-Identifier: Apache-2.0
// nigh status: which programs hold which cpus of the coordinator's.

#include "coordinator/client/status.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "base/counted.hpp"
#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/coordinator_socket.hpp"
#include "cli/pools.hpp"
#include "cli/quota_shares.hpp"
#include "cli/status_json.hpp"

namespace nigh::cli {
namespace {

std::string as_text(std::string const& socket, coordinator::HostStatus const& all) {
  auto text =
      fmt::format("{}: {}, {} free; {}, {} waiting\n", base::printable(socket),
                  base::counted(all.host.cpus, "cpu"), all.host.free,
                  base::counted(all.host.programs, "program"),
                  base::counted(all.host.waiting, "request"));
  text += fmt::format(
      "since its start {} leases granted, {} asked back; {} regions unplaced; {} messages "
      "refused\n",
      all.host.grants, all.host.revocations, all.host.unplaced, all.host.refusals);
  text += all.host.measures_energy == 0
              ? std::string("energy: not available here\n")
              : fmt::format("energy: {:.1f} J\n", static_cast<double>(all.host.energy_uj) / 1e6);
  if (all.programs.empty()) return text;
  text += fmt::format("\n{:>8}  {:<24} {:>5} {:>7} {:>8} {:>10}  {}\n", "PID", "PROGRAM", "CPUS",
                      "WANTED", "WAITING", "FOR MS", "REGION");
  ProcessRegions regions;
  for (auto const& p : all.programs)
    text += fmt::format("{:>8}  {:<24} {:>5} {:>7} {:>8} {:>10.1f}  {}\n", p.pid,
                        base::printable(p.name.view()), p.held, p.wanted, p.requests,
                        static_cast<double>(p.waiting_us) / 1000, p.region == 0 ? "-" : regions.code_of(p));
  for (auto const& p : all.programs)
    if (p.tasks > 0)
      text += fmt::format("{} ({}) has run {} OpenMP tasks, {} of them stolen\n",
                          base::printable(p.name.view()), p.pid, p.tasks, p.stolen);
  PoolNames pools;
  for (auto const& p : all.programs)
    if (auto const names = pools.of(p, all.host); !names.empty())
      text += fmt::format("{} ({}) has threads on no granted cpus: {}\n",
                          base::printable(p.name.view()), p.pid, listed(names));
  for (auto const& share : quota_shares(all)) {
    std::string who;
    for (auto const& p : all.programs)
      if (std::find(share.programs.begin(), share.programs.end(), p.program) !=
          share.programs.end())
        who += (who.empty() ? "" : ", ") + std::to_string(p.pid);
    text += fmt::format("\nquota: {:.3g} {} for PID {} ({})\n", share.cpus,
                        share.cpus == 1 ? "cpu" : "cpus", who, base::printable(share.directory));
  }
  return text;
}

void show(bool json) {
  auto const socket = coordinator_socket();
  auto const all = coordinator::query_status(socket);
  if (!all) {
    std::fprintf(stderr, "nigh: %s\n", base::printable(no_coordinator(socket, all.message())).c_str());
    throw ExitStatus{status_without_coordinator};
  }
  auto const text = json ? text_of(status_json(socket, *all)) : as_text(socket, *all);
  std::fputs(text.c_str(), stdout);
}

}  // namespace

void add_status(CLI::App& app) {
  auto* const command =
      app.add_subcommand("status", "Show what the coordinator hands out, and to whom");
  auto const json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As JSON, for scripts");
  command->callback([json] { show(*json); });
}

}  // namespace nigh::cli
