// SPDX-License-Identifier: Apache-2.0
#include "cli/report/trace_series.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "json/bounded.hpp"
#include "json/whole_number.hpp"

namespace nigh::cli {
namespace {

using Span = std::pair<double, double>;  // seconds

struct Track {
  std::string name = {};
  std::vector<Span> tasks = {}, searches = {}, sleeps = {};
};

struct Events {
  std::map<std::int64_t, Track> tracks = {};
  std::vector<double> ends = {};  // of tasks
  std::vector<std::pair<double, std::string>> steals = {};
  double last = 0;
};

// Sorted, and without overlaps: tasks nest.
std::vector<Span> joined(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end());
  std::vector<Span> out;
  for (auto const& span : spans)
    if (!out.empty() && span.first <= out.back().second)
      out.back().second = std::max(out.back().second, span.second);
    else
      out.push_back(span);
  return out;
}

// The parts of the first that are not in the second; both are joined.
std::vector<Span> without(std::vector<Span> const& spans, std::vector<Span> const& others) {
  std::vector<Span> out;
  std::size_t i = 0;
  for (auto [begin, end] : spans) {
    while (i < others.size() && others[i].second <= begin) ++i;
    for (auto k = i; k < others.size() && others[k].first < end; ++k) {
      if (others[k].first > begin) out.emplace_back(begin, others[k].first);
      begin = std::max(begin, others[k].second);
    }
    if (begin < end) out.emplace_back(begin, end);
  }
  return out;
}

std::vector<double> shares(std::vector<Span> const& spans, double seconds, std::size_t parts) {
  std::vector<double> out(parts);
  double const length = seconds / static_cast<double>(parts);
  for (auto const& [from, to] : spans)
    for (auto part = std::min(parts - 1, static_cast<std::size_t>(from / length)); part < parts;
         ++part) {
      double const begin = std::max(from, static_cast<double>(part) * length);
      double const end = std::min(to, static_cast<double>(part + 1) * length);
      if (end <= begin) break;
      out[part] += (end - begin) / length;
    }
  for (auto& share : out) share = std::min(share, 1.0);
  return out;
}

std::string text_in(nlohmann::json const& object, char const* name) {
  auto const found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Seconds; -1: no time that makes sense.
double time_in(nlohmann::json const& object, char const* name) {
  constexpr double most_us = 1e12;  // 11 days
  auto const found = object.find(name);
  if (found == object.end() || !found->is_number()) return -1;
  auto const us = found->get<double>();
  return us >= 0 && us <= most_us ? 1e-6 * us : -1;
}

void take(nlohmann::json const& event, Events& into) {
  if (!event.is_object() || !event.contains("tid")) return;
  auto const tid = json::whole_number<std::int64_t>(event["tid"], 0, INT64_MAX);
  if (!tid) return;
  auto const phase = text_in(event, "ph"), name = text_in(event, "name");
  auto const args = event.value("args", nlohmann::json::object());
  if (phase == "M") {
    if (name == "thread_name") into.tracks[*tid].name = text_in(args, "name");
    return;
  }
  double const begin = time_in(event, "ts");
  if (begin < 0) return;
  if (phase == "X") {
    double const end = begin + std::max(0.0, time_in(event, "dur"));
    into.last = std::max(into.last, end);
    auto& track = into.tracks[*tid];
    auto& spans = name == "parked"      ? track.sleeps
                  : name == "searching" ? track.searches
                                        : track.tasks;
    if (&spans == &track.tasks) into.ends.push_back(end);
    spans.emplace_back(begin, end);
  } else if (phase == "i" && name.starts_with("steal")) {
    into.last = std::max(into.last, begin);
    auto const level = text_in(args, "level");
    into.steals.emplace_back(begin, level.empty() ? "cluster" : level);
  }
}

}  // namespace

result<TraceSeries> read_series(std::filesystem::path const& trace, std::size_t parts) {
  std::ifstream in(trace, std::ios::binary);
  if (!in) return error{"its trace cannot be read"};
  Events events;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with(',')) line.pop_back();
    if (!line.starts_with(R"({"ph":")")) continue;
    if (auto const event = json::read(line)) take(*event, events);
  }
  if (events.last <= 0) return error{"its trace has no events"};
  TraceSeries series;
  series.seconds = events.last;
  for (auto const& [number, track] : events.tracks) {
    auto const sleeps = joined(track.sleeps), searches = joined(track.searches);
    auto const working = without(without(joined(track.tasks), sleeps), searches);
    if (working.empty() && sleeps.empty() && searches.empty()) continue;
    series.workers.push_back({track.name, shares(working, series.seconds, parts),
                              shares(searches, series.seconds, parts),
                              shares(sleeps, series.seconds, parts)});
  }
  auto const part_of = [&](double time) {
    return std::min(parts - 1,
                    static_cast<std::size_t>(time / series.seconds * static_cast<double>(parts)));
  };
  series.tasks.resize(parts);
  for (double const end : events.ends) ++series.tasks[part_of(end)];
  for (auto const& [time, level] : events.steals) {
    auto& row = series.steals[level];
    row.resize(parts);
    ++row[part_of(time)];
  }
  return series;
}

}  // namespace nigh::cli
