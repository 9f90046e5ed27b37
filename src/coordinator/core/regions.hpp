// SPDX-License-Identifier: Apache-2.0
#pragma once
// The regions of one program: how many threads each can use, as far as it was given or learnt, and
// which region is being tried with another team (policy/cpus/region_probe.hpp). One at a time, so
// that a program can count the runs of a trial by itself.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "coordinator/protocol/message.hpp"
#include "policy/cpus/region_probe.hpp"
#include "policy/cpus/region_scaling.hpp"

namespace nigh::coordinator {

// The knowledge of a region when its program comes, and when it leaves.
struct KnownRegion {
  struct Time {
    int threads = 0;
    std::int64_t median_ns = 0;
    std::uint64_t runs = 0;
    std::int64_t spread_ns = 0;

    bool operator==(Time const&) const = default;
  };
  RegionId id = 0;
  bool is_fixed = false;  // its demand was given, and is not learnt
  Demand demand{};        // unknown while it is not given and no two sizes differ
  std::vector<Time> times{};
  bool is_indifferent = false;  // its time is the same with any team

  bool operator==(KnownRegion const&) const = default;
};

class Regions {
 public:
  Regions(int cpus, std::size_t most) : cpus_(cpus), most_(most) {}

  void recall(std::vector<KnownRegion> const& known);
  std::vector<KnownRegion> known() const;
  // How many runs have been reported.
  std::uint64_t reports() const noexcept { return reports_; }

  // Trials may take up to `percent` of a region's time. Reports from a host that others use, too,
  // are not certain.
  void take(Report const& report, int percent, std::int64_t now_us, bool is_shared = false);

  // Where nothing is known, a region may have all cpus of an idle host, and half of them on a busy
  // one.
  policy::ThreadDemand demand(RegionId id, Demand told) const;

  // For people: nothing if it is not known. The demand that the user gave, or otherwise the learnt
  // one.
  Demand known_demand(RegionId id) const;
  std::optional<double> efficiency(RegionId id, int threads) const;

  // Of regions about which there is something new to say.
  std::vector<Advice> take_advice();

 private:
  struct Region {
    policy::RegionScaling scaling;
    policy::RegionProbe probe;
    Demand fixed{};
    Advice said{};
  };
  struct Trial {
    RegionId region = 0;
    std::uint32_t number = 0;
    std::int64_t news_us = 0;  // when it was last reported
  };
  static void recall_times(Region& region, std::vector<KnownRegion::Time> const& times);
  Demand known_demand(Region const& region) const;
  Region* find_or_add(RegionId id);
  void take_from_trial(Region& region, Report const& report, std::int64_t now_us, bool is_shared);
  void give_up_if_stale(std::int64_t now_us);
  void try_out(RegionId id, Region& region, int team, int percent, std::int64_t now_us,
               bool is_shared);
  void advise(RegionId id, Region& region);

  int cpus_;  // that the program may use
  std::size_t most_;
  std::map<RegionId, Region> regions_;
  std::optional<Trial> trial_;
  std::uint32_t last_trial_ = 0;
  std::uint64_t reports_ = 0;
  std::vector<Advice> advice_;
};

}  // namespace nigh::coordinator
