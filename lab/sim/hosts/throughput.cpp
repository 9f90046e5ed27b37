// SPDX-License-Identifier: Apache-2.0
// Threads that nobody but the operating system places: a simple Linux.
//
// A new thread begins on the least busy cpu of the least busy domain. One that wakes stays where it
// was if that cpu is idle, else takes an idle one of its domain, else any idle one, else the least
// busy. Of equally good cpus one is drawn.

#include "sim/hosts/throughput.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/hosts/leases.hpp"
#include "sim/hosts/memory_system.hpp"
#include "sim/hosts/programs.hpp"
#include "sim/hosts/shared_host.hpp"
#include "sim/random.hpp"

namespace nigh::sim {

namespace {

class OsThreads : public TeamSource {
 public:
  // Teams have as many threads as the region can use well, or as there are cpus.
  enum class TeamSize : std::uint8_t { optimal, all };

  OsThreads(MemorySystem const& memory, TeamReceiver& programs, int count, TeamSize size,
            std::uint64_t seed)
      : memory_(memory),
        programs_(programs),
        size_(size),
        random_(seed),
        busy_(static_cast<std::size_t>(memory.cpus()), 0),
        places_(static_cast<std::size_t>(count)) {}

  int begin_program(int program) override {
    places_of(program).assign(1, place_new());
    return places_of(program)[0];
  }
  void end_program(int) override {}

  void enter(int program, int, policy::ThreadDemand demand, int) override {
    auto const n =
        static_cast<std::size_t>(size_ == TeamSize::all ? memory_.cpus() : demand.optimal);
    auto& places = places_of(program);
    // Places are taken one after the other, so each thread sees those before it.
    std::size_t const known = places.size();
    places.resize(std::max(n, known), -1);
    for (std::size_t t = 0; t < n; ++t) {
      places[t] = t < known ? place_woken(places[t]) : place_new();
      ++busy_at(places[t]);
    }
    std::vector<int> team(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
    for (int p : team) --busy_at(p);  // runs() counts them
    programs_.begin_region(program, std::move(team));
  }
  void leave(int, int, int, Time) override {}

  void runs(int cpu) override { ++busy_at(cpu); }
  void ends(int cpu) override { --busy_at(cpu); }
  void happen(Event const&) override {}

 private:
  int& busy_at(int cpu) { return busy_[static_cast<std::size_t>(cpu)]; }
  std::vector<int>& places_of(int program) { return places_[static_cast<std::size_t>(program)]; }

  int place_new() {
    std::vector<int> load;
    for (int p = 0; p < memory_.cpus(); ++p) {
      auto const d = static_cast<std::size_t>(memory_.domain_of(p));
      load.resize(std::max(load.size(), d + 1), 0);
      load[d] += busy_at(p);
    }
    return least([&](int p) {
      return load[static_cast<std::size_t>(memory_.domain_of(p))] * 1000 + busy_at(p);
    });
  }
  int place_woken(int at) {
    if (busy_at(at) == 0) return at;
    return least([&](int p) {
      int const here = memory_.domain_of(p) == memory_.domain_of(at) ? 0 : 1;
      return busy_at(p) * 2 + here;
    });
  }
  template <class Cost>
  int least(Cost cost) {
    int best = 0, equal = 0;
    for (int p = 0; p < memory_.cpus(); ++p) {
      if (equal > 0 && cost(p) > cost(best)) continue;
      if (equal > 0 && cost(p) < cost(best)) equal = 0;
      if (random_.below(++equal) == 0) best = p;
    }
    return best;
  }

  MemorySystem const& memory_;
  TeamReceiver& programs_;
  TeamSize size_;
  Random random_;
  std::vector<int> busy_;  // threads that run there
  std::vector<std::vector<int>> places_;
};

}  // namespace

MeasuredPrograms::MeasuredPrograms(Machine const& machine, policy::CoreMap const& map) {
  for (ProgramProfile const& profile : paper_programs()) {
    HostedProgram hosted{&profile, {}};
    for (RegionProfile const& region : profile.regions)
      hosted.demands.push_back(demand_of(seconds_by_threads(machine, map, region)));
    hosted_.push_back(std::move(hosted));
  }
}

namespace {

std::optional<policy::CoreAllocation> policy_of(Way way) {
  switch (way) {
    case Way::simple:
      return policy::CoreAllocation::simple;
    case Way::nearest:
      return policy::CoreAllocation::nearest;
    case Way::clustered:
      return policy::CoreAllocation::clustered;
    case Way::adjusting:
    case Way::learning:
      return policy::CoreAllocation::clustered_adjusting;
    default:
      return std::nullopt;
  }
}

}  // namespace

result<HostOutcome> run_programs(Machine const& machine, policy::CoreMap const& map,
                                 MeasuredPrograms const& measured, ThroughputCase const& what) {
  std::vector<HostedProgram> programs;
  for (int p : what.programs) programs.push_back(measured[p]);
  auto const count = static_cast<int>(programs.size());
  SharedHost host(machine, map, std::move(programs), what.way == Way::sequential ? 1 : what.at_once,
                  what.data);
  if (auto const how = policy_of(what.way)) {
    Leases leases(host.simulation(), SharedHost::source_actor, host.receiver(), map, *how,
                  static_cast<Time>(machine.message_ns.value), count, what.way != Way::learning);
    return host.run(leases);
  }
  OsThreads system(host.memory(), host.receiver(), count,
                   what.way == Way::fixed ? OsThreads::TeamSize::optimal : OsThreads::TeamSize::all,
                   what.seed);
  return host.run(system);
}

std::vector<RequestCell> study_requests(policy::CoreMap const& map, RequestOptions const& o) {
  std::vector<RequestCell> cells{{"random", {}}};
  for (auto const name : policy::core_allocation_names) cells.push_back({std::string(name), {}});
  for (int s = 0; s < o.seeds; ++s) {
    auto const seed = o.seed + static_cast<std::uint64_t>(s);
    for (RequestCell& cell : cells) {
      Random random(seed);
      auto const how = policy::core_allocation_from_string(cell.policy);
      cell.sums.push_back(
          play_requests(map, o.programs, o.requests, seed,
                        [&](policy::PositionSet const& free, policy::CoreRequest const& request) {
                          return how ? policy::decide(map, {.how = *how}, free, request)
                                     : scattered(map, free, request, random);
                        }));
    }
  }
  return cells;
}

result<std::vector<WayCell>> study_set(Machine const& machine, policy::CoreMap const& map,
                                       MeasuredPrograms const& measured, SetOptions const& o) {
  std::vector<WayCell> cells;
  for (Way way : o.ways) cells.push_back({way, {}});
  for (int s = 0; s < o.seeds; ++s) {
    auto const seed = o.seed + static_cast<std::uint64_t>(s);
    auto const set = random_programs(o.programs, seed);
    for (WayCell& cell : cells) {
      auto const outcome =
          run_programs(machine, map, measured, {set, o.at_once, cell.way, seed, o.data});
      if (!outcome) return outcome.to_error();
      cell.outcomes.push_back(*outcome);
    }
  }
  return cells;
}

}  // namespace nigh::sim
