// SPDX-License-Identifier: Apache-2.0
// Says how product and simulator act where a policy decides, a line for each: FOLDER
// product|simulator NUMBER. Linked twice: with the policies as they are, and with one of each
// folder replaced.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/stencil.hpp>
#include <set>
#include <thread>
#include <variant>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "loops/spread_site.hpp"
#include "sim/hosts/programs.hpp"
#include "sim/loops/loop_run.hpp"
#include "sim/machine.hpp"
#include "sim/replay/replay.hpp"
#include "sim/spread/study.hpp"
#include "sim/temporal/temporal.hpp"

namespace nigh {
namespace {

topology machine_of(char const* description) {
  return topology::from_synthetic(description).value();
}
sim::Machine modelled(char const* name) { return sim::find_machine(name, NIGH_MACHINES).value(); }

// ---- stealing: what is queued near one domain while its worker is busy

// 1: a worker of the other domain runs it.
double run_abroad() {
  auto const machine = machine_of("numa:2 core:1 pu:1");
  runtime rt({.machine = &machine});
  std::atomic<bool> is_over{false}, ran_meanwhile{false};
  rt.spawn(near(0), [&] {
    rt.spawn(near(0), [&] { ran_meanwhile = !is_over; });
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (!ran_meanwhile && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    is_over = true;
  });
  rt.wait();
  return ran_meanwhile ? 1 : 0;
}

double replayed_abroad() {
  auto const machine = modelled("opteron-4x2");
  sim::RecordedRun run;
  run.workers = 8;
  for (int i = 0; i < 16; ++i) run.pieces.push_back({i < 4 ? 10e-3 : 1e-6, 0, -1, 0, 0});
  run.seconds = 10e-3;
  auto const outcome = sim::replay(run, {machine, machine, 0}, sim::replay_policies().front(), 1);
  return static_cast<double>(outcome.taken_abroad);
}

// ---- loops: how much of its span a worker takes at first

double first_range() {
  auto const machine = machine_of("numa:1 core:1 pu:1");
  runtime rt({.machine = &machine});
  std::size_t first = 0;
  parallel_for(
      0, 100, [&](index_range range) { first = first == 0 ? range.size() : first; },
      loop_options{.where = &rt});
  return static_cast<double>(first);
}

// Two threads; one takes its first step, and the other all that it gets.
double left_to_the_other() {
  auto const machine = machine_of("numa:1 core:2 pu:1");
  sim::Team const team(machine, machine.cpus());
  sim::LoopRun loop(schedule_kind::adaptive, 1, 100, team);
  sim::Random random(1);
  static_cast<void>(loop.next(0, random));
  int steps = 0;
  while (loop.next(1, random)) ++steps;
  return steps;
}

// ---- cpus: a team of four where eight cpus are free

double granted_cpus() {
  using namespace coordinator;
  CoordinatorOptions options;
  options.programs = 1;
  options.open_requests = 1;
  auto const machine = machine_of("numa:1 core:8 pu:1");
  Coordinator coordinator(policy::CoreMap::of(machine), options, 0);
  CpuSet all;
  for (int cpu : machine.cpus()) all.add(cpu);
  coordinator.step(Received{1, Register{.pid = 1, .name = Name("p"), .allowed = all}}, 1);
  Request const request{.region = 7, .ticket = 1, .demand = {4, 4}, .returned = 0};
  for (Send const& sent : coordinator.step(Received{1, request}, 2))
    if (auto const* grant = std::get_if<Grant>(&sent.message)) return grant->team.size();
  return 0;
}

// Seconds of a region on four threads.
double seconds_on_four() {
  auto const machine = modelled("opteron-4x2");
  auto const map = machine.core_map();
  auto const& region = sim::paper_programs().front().regions.front();
  return sim::seconds_by_threads(machine, map, region).at(3);
}

// ---- spread: how many sizes of teams are tried

double spreads_tried() {
  auto const machine = machine_of("numa:1 core:12 pu:1");
  policy::OrderedWorkers const workers(machine, machine.cpus());
  spread_site::state site("", {});
  std::set<int> spreads;
  for (int i = 0; i < 200; ++i) {
    spreads.insert(site.begin(machine, workers, 12, true, 1).choice.spread);
    site.took(1.0);
  }
  return static_cast<double>(spreads.size());
}

double spreads_studied() {
  sim::SpreadStudy study;
  study.loop.grid = 4;
  study.loop.iterations = 1;
  study.choices = 0;
  return static_cast<double>(
      sim::study_block_size(modelled("bridges-2x14"), study, 64).cells.size());
}

// ---- tiles: how wide they are

double stencil_width() {
  auto const machine = machine_of("numa:1 core:2 pu:1");
  runtime rt({.machine = &machine});
  stencil<3> const grid({.points = {400, 50, 50}}, {.where = &rt});
  return static_cast<double>(grid.plan().width);
}

double modelled_width() { return sim::chosen_width(modelled("skylake-4x12"), {}); }

void observe() {
  struct Line {
    char const* what;
    double (*number)();
  };
  for (auto const& line : {
           Line{"stealing product", run_abroad},
           Line{"stealing simulator", replayed_abroad},
           Line{"loops product", first_range},
           Line{"loops simulator", left_to_the_other},
           Line{"cpus product", granted_cpus},
           Line{"cpus simulator", seconds_on_four},
           Line{"spread product", spreads_tried},
           Line{"spread simulator", spreads_studied},
           Line{"tiles product", stencil_width},
           Line{"tiles simulator", modelled_width},
       })
    std::printf("%s %.9g\n", line.what, line.number());
}

}  // namespace
}  // namespace nigh

int main() { nigh::observe(); }
