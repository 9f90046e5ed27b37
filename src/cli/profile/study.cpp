// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/study.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "policy/cpus/region_scaling.hpp"

namespace nigh::cli {
namespace {

using coordinator::RegionId;

template <class Samples, class Value>
double median_by(Samples const& samples, Value const& value) {
  std::vector<double> values;
  for (auto const& s : samples) values.push_back(value(s));
  return median_of(std::move(values));
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  auto const n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double TeamSamples::ns() const { return median_of(samples_ns); }

double TeamSamples::spread() const {
  auto const [low, high] = std::minmax_element(samples_ns.begin(), samples_ns.end());
  return low == samples_ns.end() ? 0 : (*high - *low) / ns();
}

double StudiedRegion::speedup(TeamSamples const& team) const {
  auto const& smallest = teams.front();
  return policy::speedup({smallest.threads, smallest.ns()}, {team.threads, team.ns()});
}

void StudyLog::add(int team, double seconds, std::vector<ProcessTimes> const& processes) {
  seconds_[team].push_back(seconds);
  // A program may be several processes, one after the other or at once.
  std::map<std::pair<std::string, RegionId>, std::map<int, Sample>> sums;
  for (auto const& process : processes) {
    lost_ += process.lost;
    for (auto const& t : process.regions) {
      programs_[process.program][t.region].file = t.file;
      auto& sum = sums[{process.program, t.region}][t.threads];
      bool const is_most = t.runs > sum.runs;
      sum.run = runs_;
      sum.team = team;
      sum.seconds = seconds;
      sum.total_ns += static_cast<double>(t.total_ns);
      sum.runs += t.runs;
      if (!is_most) continue;
      sum.p10_ns = static_cast<double>(t.p10_ns);
      sum.median_ns = static_cast<double>(t.median_ns);
      sum.p90_ns = static_cast<double>(t.p90_ns);
    }
  }
  ++runs_;
  for (auto const& [where, by_threads] : sums)
    for (auto const& [threads, sum] : by_threads)
      programs_[where.first][where.second].by_threads[threads].push_back(sum);
}

std::map<int, StudyLog::Samples> StudyLog::by_team(Region const& region) {
  auto teams = region.by_threads;
  auto node = teams.extract(0);
  if (node.empty()) return teams;
  auto const& ones = node.mapped();
  if (teams.empty()) return {{1, ones}};
  auto const is_of_one = [](Sample const& s) { return s.team == 1; };
  bool follows = std::any_of(ones.begin(), ones.end(), is_of_one);
  for (auto const& [threads, samples] : teams)
    for (auto const& s : samples) follows = follows && threads == s.team && !is_of_one(s);
  if (!follows) return teams;
  // A region whose if() is false now and then counts with all of its runs at every size.
  for (auto const& one : ones) {
    auto& samples = teams[one.team];
    auto const same = std::find_if(samples.begin(), samples.end(),
                                   [&](Sample const& s) { return s.run == one.run; });
    if (same == samples.end()) {
      samples.push_back(one);
      continue;
    }
    auto sum = one.runs > same->runs ? one : *same;
    sum.total_ns = one.total_ns + same->total_ns;
    sum.runs = one.runs + same->runs;
    *same = sum;
  }
  return teams;
}

StudiedRegion StudyLog::region_of(RegionId id, Region const& region) const {
  StudiedRegion studied;
  studied.id = id;
  std::vector<double> shares;
  std::vector<policy::TimedTeam> times;
  for (auto const& [threads, samples] : by_team(region)) {
    TeamSamples team{threads};
    for (auto const& s : samples) {
      // A time too short for the clock counts as a nanosecond.
      team.samples_ns.push_back(std::max(1.0, s.total_ns / static_cast<double>(s.runs)));
      team.runs += s.runs;
      if (s.team == seconds_.begin()->first) shares.push_back(1e-9 * s.total_ns / s.seconds);
    }
    team.p10_ns = median_by(samples, [](Sample const& s) { return s.p10_ns; });
    team.median_ns = median_by(samples, [](Sample const& s) { return s.median_ns; });
    team.p90_ns = median_by(samples, [](Sample const& s) { return s.p90_ns; });
    times.push_back({threads, team.ns()});
    studied.teams.push_back(std::move(team));
  }
  studied.share = median_of(std::move(shares));
  if (times.size() > 1) studied.demand = policy::demand_by_study(times);
  return studied;
}

Study StudyLog::study() const {
  Study study;
  study.lost = lost_;
  for (auto const& [team, seconds] : seconds_) study.whole.push_back({team, seconds});
  for (auto const& [path, regions] : programs_) {
    std::set<std::filesystem::path> libraries;
    for (auto const& [id, region] : regions)
      if (coordinator::library_of(id) != 0 && !region.file.empty()) libraries.insert(region.file);
    auto names = RegionNames::of_program(path, {libraries.begin(), libraries.end()});
    StudiedProgram program{path, {}};
    for (auto const& [id, region] : regions) {
      auto studied = region_of(id, region);
      studied.code = names.find(id);
      program.regions.push_back(std::move(studied));
    }
    std::stable_sort(program.regions.begin(), program.regions.end(),
                     [](auto const& a, auto const& b) { return a.share > b.share; });
    study.programs.push_back(std::move(program));
  }
  return study;
}

}  // namespace nigh::cli
