// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs that share a host: each goes through its serial parts and parallel regions, on cpus that
// a TeamSource gives it, at the speed the memory system leaves it.
//
//   queued ──▶ serial ──▶ asking ──▶ leader part ──▶ team part ──▶ meeting ─┐
//                ▲                                                          │
//                └──────────────────── next region or round ───────────────┘──▶ ended
//
// A program's data lies in all domains in equal parts, or where the threads of its first region
// touched it first, in equal slices. Thread i of n works on slice i/n, and reads what thread i + 1
// has written.

#include <cstdint>
#include <functional>
#include <memory>
#include <nigh/result.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "policy/cpus/thread_count.hpp"
#include "sim/event_queue.hpp"
#include "sim/hosts/memory_system.hpp"
#include "sim/hosts/programs.hpp"
#include "sim/simulation.hpp"

namespace nigh::sim {

// Where programs get cpus for their parallel regions from: the operating system, or the
// coordinator.

// Programs are numbered; cpus are positions.
class TeamReceiver {
 public:
  virtual ~TeamReceiver() = default;
  // The region may begin; the leader's cpu comes first.
  virtual void begin_region(int program, std::vector<int> team) = 0;
};

class TeamSource {
 public:
  virtual ~TeamSource() = default;

  // Where the leader begins, and runs what is serial.
  virtual int begin_program(int program) = 0;
  virtual void end_program(int program) = 0;

  // Answered by begin_region(), at once or later.
  virtual void enter(int program, int region, policy::ThreadDemand demand, int place) = 0;
  virtual void leave(int program, int region, int threads, Time duration) = 0;

  // A thread begins or ends to run on a cpu.
  virtual void runs(int /*cpu*/) {}
  virtual void ends(int /*cpu*/) {}

  virtual void happen(Event const& event) = 0;
};

enum class DataPlace : std::uint8_t { interleaved, first_touch };

struct HostOutcome {
  double seconds = 0;            // until the last program has ended
  double mean_end_s = 0;         // when a program ended, on average
  double thread_seconds = 0;     // threads' time in regions' team parts, stalls included
  double distance_per_link = 0;  // of threads with consecutive numbers, in regions by duration
  double home_hops = 0;          // of threads to their data, by duration
  double mean_team = 0;          // threads, by duration
};

struct HostedProgram {
  ProgramProfile const* profile = nullptr;
  std::vector<policy::ThreadDemand> demands;  // [region]
};

class SharedHost : private TeamReceiver {
 public:
  // `at_once`: how many run at a time; the others wait in a queue.
  SharedHost(Machine const& machine, policy::CoreMap const& map,
             std::vector<HostedProgram> programs, int at_once, DataPlace data);
  ~SharedHost() override;

  Simulation& simulation() noexcept { return simulation_; }
  MemorySystem const& memory() const noexcept { return memory_; }
  TeamReceiver& receiver() noexcept { return *this; }
  static constexpr Actor source_actor = 0;

  // An error tells the state of each program when nothing can happen any more.
  result<HostOutcome> run(TeamSource& source);

  // For Simulation::step.
  void happen(Event const& event);
  void ended(FlowId flow);

 private:
  enum class State : std::uint8_t { queued, serial, asking, leader, team, meeting, ended };
  struct Program {
    HostedProgram what;
    State state = State::queued;
    int round = 0;
    std::size_t region = 0;
    int place = -1;
    std::vector<int> team;
    std::vector<int> home;  // domain of each slice
    int running = 0;        // threads of the team part
    Time region_began = 0;
    Time team_began = 0;
  };
  struct Thread {
    int program = 0;
    int cpu = 0;
  };

  RegionProfile const& region(Program const& p) const { return p.what.profile->regions[p.region]; }
  void start_next();
  void begin_round(int program);
  void ask(int program);
  void begin_region(int program, std::vector<int> team) override;
  void begin_team(int program);
  void meet(int program);
  void end_region(int program);
  void run_thread(int program, double work_s, ThreadPlace const& place, RegionProfile const* need);
  void count(Program const& p, double duration);
  std::string states() const;

  Machine const& machine_;
  policy::CoreMap const& map_;
  Simulation simulation_;
  MemorySystem memory_;
  TeamSource* source_ = nullptr;
  std::vector<Program> programs_;
  std::unordered_map<FlowId, Thread> threads_;
  std::vector<int> running_;  // threads, by cpu
  std::size_t next_ = 0;
  int at_once_;
  DataPlace data_;
  int left_;
  double weight_ = 0, links_ = 0;  // what the means are divided by
  HostOutcome outcome_;
};

}  // namespace nigh::sim
