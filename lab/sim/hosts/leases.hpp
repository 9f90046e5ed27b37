// SPDX-License-Identifier: Apache-2.0
#pragma once
// Teams by lease: the product's coordinator in virtual time, with messages that take theirs.
//
// Programs behave as the library in them does (coordinator/client): a lease serves all regions, is
// kept until it is asked for, and given back between regions. One that is idle when it is asked for
// is taken back at once, for its word lies in shared memory.

#include <deque>
#include <map>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator/protocol/region_word.hpp"
#include "sim/hosts/shared_host.hpp"
#include "sim/simulation.hpp"

namespace nigh::sim {

class Leases : public TeamSource {
 public:
  // `actor`: to whom its events are posted. `tells`: programs say what their regions can use;
  // otherwise the coordinator learns from reports, and from trials that it asks for.
  Leases(Simulation& simulation, Actor actor, TeamReceiver& programs, policy::CoreMap map,
         policy::CoreAllocation how, Time message, int count, bool tells);

  int begin_program(int program) override;
  void end_program(int program) override;
  void enter(int program, int region, policy::ThreadDemand demand, int place) override;
  void leave(int program, int region, int threads, Time duration) override;
  void happen(Event const& event) override;

 private:
  static constexpr int no_region = -1;

  struct Held {
    coordinator::LeaseId lease = 0;  // 0: none
    std::uint32_t asked = 0;         // threads, for it
    std::vector<int> team;
    bool asked_back = false;
    coordinator::Ticket ticket = 0;
    // of the region
    bool inside = false;
    int region = 0;
    coordinator::Demand wish{};
    std::map<int, coordinator::RegionWord> advice;  // [region]
    // of reports and trials, as coordinator::LeaseClient has them
    Time unreported = 0;
    int due = no_region;
    coordinator::RegionWord trial{};
    std::uint32_t trial_runs = 0;
    bool is_run_of_trial = false;  // that is to be reported
  };
  struct ToCoordinator {
    coordinator::Event event;
  };
  using Mail = std::variant<ToCoordinator, coordinator::Send>;

  Held& held(int program) { return held_[static_cast<std::size_t>(program)]; }
  coordinator::Demand told(policy::ThreadDemand demand) const;
  static coordinator::RegionWord advice(Held const& h);
  static std::uint32_t most(Held const& h);
  static std::size_t team_size(Held& h);
  void report(int program, int threads, Time duration, std::uint32_t trial);
  void send(coordinator::Event event);
  void step(coordinator::Event const& event);
  void arrive(coordinator::Send const& mail);
  void begin(int program);

  Simulation& simulation_;
  Actor actor_;
  TeamReceiver& programs_;
  policy::CoreMap map_;
  coordinator::Coordinator coordinator_;
  Time message_;
  bool tells_;
  int next_place_ = 0;
  std::vector<Held> held_;
  std::deque<Mail> mail_;  // on its way; it arrives in the order it was sent
  Time ticks_at_ = -1;     // a tick is posted for then
};

}  // namespace nigh::sim
