// SPDX-License-Identifier: Apache-2.0
#pragma once
// A study: a program ran with every size of team several times, and each time every region reported
// how long it took. These are the results for each region.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/profile/region_times.hpp"
#include "cli/region_name.hpp"
#include "policy/cpus/thread_count.hpp"

namespace nigh::cli {

// The times of a region with one size of team. A sample is its mean time in one run of the program.
struct TeamSamples {
  int threads = 0;
  std::vector<double> samples_ns = {};
  std::uint64_t runs = 0;                        // of the region, in all of them
  double p10_ns = 0, median_ns = 0, p90_ns = 0;  // of the region's own runs, median of all samples

  double ns() const;      // median
  double spread() const;  // (largest - smallest) / median
};

struct StudiedRegion {
  coordinator::RegionId id = 0;
  RegionCode code = {};
  std::vector<TeamSamples> teams = {};              // ascending
  double share = 0;                                 // of the time with the smallest team
  std::optional<policy::ThreadDemand> demand = {};  // nothing: it had one size only

  double speedup(TeamSamples const& team) const;
};

struct StudiedProgram {
  std::string path = {};
  std::vector<StudiedRegion> regions = {};  // the longest first
};

struct WholeRun {
  int team = 0;
  std::vector<double> seconds = {};
};

struct Study {
  std::vector<WholeRun> whole = {};           // ascending
  std::vector<StudiedProgram> programs = {};  // the program, and those it started
  std::uint64_t lost = 0;                     // runs of regions that were not recorded
  std::optional<double> others_cpus = {};     // that others kept busy meanwhile; nothing: not known
};

class StudyLog {
 public:
  // A run of the program with teams of that size.
  void add(int team, double seconds, std::vector<ProcessTimes> const& processes);

  Study study() const;

 private:
  struct Sample {
    int run = 0;  // of the program
    int team = 0;
    double seconds = 0;
    std::uint64_t runs = 0;
    double total_ns = 0, p10_ns = 0, median_ns = 0, p90_ns = 0;
  };
  using Samples = std::vector<Sample>;
  struct Region {
    std::string file = {};
    std::map<int, Samples> by_threads = {};
  };

  // By threads. Runs that asked for one thread count as teams of the studied size if they follow
  // it: with teams of one, the region had no others, and with more, it had that size. If it never
  // had others, it is of one thread. Otherwise its if() was false, and they are left out.
  static std::map<int, Samples> by_team(Region const& region);
  StudiedRegion region_of(coordinator::RegionId id, Region const& region) const;

  std::map<std::string, std::map<coordinator::RegionId, Region>> programs_;
  std::map<int, std::vector<double>> seconds_;  // by team
  std::uint64_t lost_ = 0;
  int runs_ = 0;  // of the program
};

double median_of(std::vector<double> values);  // 0: there are none

}  // namespace nigh::cli
