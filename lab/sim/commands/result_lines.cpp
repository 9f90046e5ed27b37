// SPDX-License-Identifier: Apache-2.0
#include "sim/commands/result_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nigh/version.hpp>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tune/standings.hpp"

namespace nigh::cli {

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

}  // namespace nigh::cli
