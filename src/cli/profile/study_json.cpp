// SPDX-License-Identifier: Apache-2.0
// Format: docs/results-schema.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/profile/study_text.hpp"
#include "coordinator/profile/region_profile.hpp"
#include "platform/system_name.hpp"

namespace nigh::cli {
namespace {

using Json = nlohmann::ordered_json;

Json measured(Json line, char const* metric, char const* unit, std::vector<double> const& samples) {
  double const n = static_cast<double>(samples.size());
  double mean = 0, squares = 0;
  for (double const x : samples) mean += x / n;
  for (double const x : samples) squares += (x - mean) * (x - mean);
  line["metric"] = metric;
  line["unit"] = unit;
  line["median"] = median_of(samples);
  line["min"] = *std::min_element(samples.begin(), samples.end());
  line["max"] = *std::max_element(samples.begin(), samples.end());
  line["mean"] = mean;
  line["deviation"] = samples.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  line["samples"] = samples;
  return line;
}

Json line_of(std::string const& variant, Json params) {
  return {{"bench", "profile"}, {"variant", variant}, {"params", std::move(params)}};
}

Json line_of(StudiedProgram const& program, StudiedRegion const& region, TeamSamples const& team) {
  Json params{{"program", std::filesystem::path(program.path).filename().string()},
              {"region", coordinator::region_name(region.id)},
              {"function", function_of(region.code)},
              {"source", region.code.at.source},
              {"line", region.code.at.line},
              {"threads", team.threads}};
  if (region.code.is_in_library) params["library"] = region.code.file.string();
  auto line = measured(line_of(short_name(region.code), std::move(params)), "time_per_region", "ns",
                       team.samples_ns);
  auto& counters = line["counters"];
  counters = {{"runs", team.runs},
              {"share", region.share},
              {"speedup", region.speedup(team)},
              {"run_p10_ns", team.p10_ns},
              {"run_p50_ns", team.median_ns},
              {"run_p90_ns", team.p90_ns}};
  if (region.demand) {
    counters["maximum"] = region.demand->maximum;
    counters["optimal"] = region.demand->optimal;
  }
  return line;
}

}  // namespace

StudyRecord record_of(topology const& machine) {
  return {NIGH_COMMIT, platform::system_name(), machine.description(),
          platform::now_utc()};
}

std::string study_json(Study const& study, StudyRecord const& record) {
  Json run{{"commit", record.commit},
                 {"machine", record.machine},
                 {"topology", record.topology},
                 {"date", record.date}};
  if (study.others_cpus) run["others_cpus"] = *study.others_cpus;
  std::string lines;
  auto const add = [&](Json line) {
    line["run"] = run;
    lines += line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  };
  for (auto const& whole : study.whole)
    add(measured(line_of("(all of the program)", {{"threads", whole.team}}), "time", "s",
                 whole.seconds));
  for (auto const& program : study.programs)
    for (auto const& region : program.regions)
      for (auto const& team : region.teams) add(line_of(program, region, team));
  return lines;
}

}  // namespace nigh::cli
