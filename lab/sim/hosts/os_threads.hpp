// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threads that nobody but the operating system places: a simple Linux.
//
// A new thread begins on the least busy cpu of the least busy domain. One that wakes stays where it
// was if that cpu is idle, else takes an idle one of its domain, else any idle one, else the least
// busy. Of equally good cpus one is drawn.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/hosts/memory_system.hpp"
#include "sim/hosts/team_source.hpp"
#include "sim/random.hpp"

namespace nigh::sim {

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

}  // namespace nigh::sim
