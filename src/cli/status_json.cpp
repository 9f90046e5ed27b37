// SPDX-License-Identifier: Apache-2.0
#include "cli/status_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/cpu_list.hpp"
#include "base/printable.hpp"
#include "cli/pools.hpp"
#include "cli/quota_shares.hpp"

namespace nigh::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string list_of(coordinator::CpuSet const& set) {
  std::vector<int> cpus;
  for (int c = 0; c < coordinator::max_cpus; ++c)
    if (set.has(c)) cpus.push_back(c);
  return base::cpu_list(cpus);
}

// Null where the system does not let us read it.
Json joules(coordinator::Status const& host, std::uint64_t uj) {
  if (host.measures_energy == 0) return nullptr;
  return static_cast<double>(uj) / 1e6;
}

// 0 stands for unknown.
Json or_null(std::uint32_t known) { return known == 0 ? Json() : Json(known); }
Json or_null(double known) { return known == 0 ? Json() : Json(known); }

}  // namespace

std::string ProcessRegions::code_of(coordinator::Status const& program) {
  if (program.region == 0) return {};
  auto const process = ProgramProcess::of(program);
  auto known = by_process_.find(process);
  if (known == by_process_.end())
    known = by_process_.emplace(process, RegionNames::of_process(process)).first;
  return known->second.name(program.region);
}

Json status_json(std::string const& socket, coordinator::HostStatus const& all) {
  auto const& host = all.host;
  Json json{{"socket", socket},
            {"cpus", host.cpus},
            {"free", host.free},
            {"waiting", host.waiting},
            {"grants", host.grants},
            {"revocations", host.revocations},
            {"refusals", host.refusals},
            {"unplaced", host.unplaced},
            {"up_us", host.up_us},
            {"energy_j", joules(host, host.energy_uj)},
            {"strangers", list_of(host.external_load)},
            {"strangers_unseen", host.has_unseen_load != 0},
            {"programs", Json::array()}};
  PoolNames pools;
  ProcessRegions regions;
  for (auto const& p : all.programs)
    json["programs"].push_back({{"program", p.program},
                                {"pid", p.pid},
                                {"name", base::printable(p.name.view())},
                                {"cpus", p.held},
                                {"holds", list_of(p.holds)},
                                {"wanted", p.wanted},
                                {"waiting", p.requests},
                                {"waiting_us", p.waiting_us},
                                {"waited_us", p.waited_us},
                                {"grants", p.granted},
                                {"unplaced", p.ran_unplaced},
                                {"energy_j", joules(host, p.used_uj)},
                                {"tasks", p.tasks},
                                {"stolen", p.stolen},
                                {"learnt_optimum", or_null(p.learnt.optimal)},
                                {"learnt_maximum", or_null(p.learnt.maximum)},
                                {"efficiency", or_null(p.efficiency / 1000.0)},
                                {"region", fmt::format("{:#x}", p.region)},
                                {"code", regions.code_of(p)},
                                {"pools", pools.of(p, all.host)}});
  for (auto const& share : quota_shares(all))  // only where there is one
    for (auto& program : json["programs"])
      if (std::find(share.programs.begin(), share.programs.end(),
                    program["program"].get<std::uint32_t>()) != share.programs.end()) {
        program["quota_cpus"] = share.cpus;
        program["quota_cgroup"] = base::printable(share.directory);
      }
  return json;
}

std::string text_of(Json const& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace nigh::cli
