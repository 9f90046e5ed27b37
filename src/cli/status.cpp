// SPDX-License-Identifier: Apache-2.0
// nigh status: what the coordinator hands out, and to whom.

#include "coordinator/client/status.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.hpp"
#include "cli/coordinator_socket.hpp"
#include "cli/region_name.hpp"

namespace nigh::cli {
namespace {

constexpr int no_coordinator = 1;

// Where its region is, for people; empty when it has none.
std::string code_of(coordinator::Status const& program) {
  if (program.region == 0) return {};
  return RegionNames::of_process(static_cast<int>(program.pid)).name(program.region);
}

nlohmann::ordered_json as_json(std::string const& socket, coordinator::HostStatus const& all) {
  nlohmann::ordered_json json{{"socket", socket},
                              {"cpus", all.host.cpus},
                              {"free", all.host.free},
                              {"waiting", all.host.waiting},
                              {"grants", all.host.grants},
                              {"revocations", all.host.revocations},
                              {"refusals", all.host.refusals},
                              {"programs", nlohmann::ordered_json::array()}};
  for (auto const& p : all.programs)
    json["programs"].push_back({{"program", p.program},
                                {"pid", p.pid},
                                {"name", p.name.view()},
                                {"cpus", p.held},
                                {"wanted", p.wanted},
                                {"waiting", p.requests},
                                {"waiting_us", p.waiting_us},
                                {"region", fmt::format("{:#x}", p.region)},
                                {"code", code_of(p)}});
  return json;
}

std::string as_text(std::string const& socket, coordinator::HostStatus const& all) {
  auto text = fmt::format("{}: {} cpus, {} free; {} programs, {} requests wait\n", socket,
                          all.host.cpus, all.host.free, all.host.programs, all.host.waiting);
  text += fmt::format("since its start {} leases granted, {} asked back; {} messages refused\n",
                      all.host.grants, all.host.revocations, all.host.refusals);
  if (all.programs.empty()) return text;
  text += fmt::format("\n{:>8}  {:<24} {:>5} {:>7} {:>8} {:>10}  {}\n", "PID", "PROGRAM", "CPUS",
                      "WANTED", "WAITING", "FOR MS", "REGION");
  for (auto const& p : all.programs)
    text += fmt::format("{:>8}  {:<24} {:>5} {:>7} {:>8} {:>10.1f}  {}\n", p.pid, p.name.view(),
                        p.held, p.wanted, p.requests, static_cast<double>(p.waiting_us) / 1000,
                        p.region == 0 ? "-" : code_of(p));
  return text;
}

void show(bool json) {
  auto const socket = coordinator_socket();
  auto const all = coordinator::query_status(socket);
  if (!all) {
    std::fprintf(stderr, "nigh: no coordinator at %s: %s\n", socket.c_str(), all.message().c_str());
    throw ExitStatus{no_coordinator};
  }
  std::fputs(
      (json ? as_json(socket, *all).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                  '\n'
            : as_text(socket, *all))
          .c_str(),
      stdout);
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
