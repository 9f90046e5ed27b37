// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/victims.hpp"

#include <vector>

namespace nigh::openmp::tasks {
namespace {

// Beyond, each thread's list of the others would take more memory than it saves time.
constexpr std::uint32_t most_planned = 512;

constexpr std::uint32_t rounds_between_looks = 64;

}  // namespace

struct Victims {
  policy::VictimPlan plan;
  std::vector<int> cpus;  // [member]: where it was; -1: it has not come yet
};

policy::Reach reach_of(int from, int to) noexcept {
  constexpr double farthest = 1e9;
  if (from < 0 || to < 0) return {level::host, farthest};
  if (from == to) return {level::cpu, 0};
  auto const a = platform::place_of(from), b = platform::place_of(to);
  auto const where = common_level(a, b);
  if (where < level::package) return {where, 0};
  return {where, static_cast<double>(platform::distance_of_domains(a.domain, b.domain))};
}

void look_around(Member& me) noexcept {
  me.rounds_until_look = rounds_between_looks;
  me.plan = nullptr;
  int const here = platform::cpu_of_thread();
  me.cpu.store(here, sync::relaxed);
  if (me.size > most_planned) return;
  try {
    if (me.victims == nullptr) me.victims = new Victims;
    Victims& v = *me.victims;
    bool is_new = v.plan.self != static_cast<int>(me.number) || v.cpus.size() != me.size;
    v.cpus.resize(me.size, -1);
    for (std::uint32_t k = 0; k < me.size; ++k) {
      Member const* const m = k == me.number ? &me : me.team->members.at(k);
      // A thread comes to where the one of its number was before.
      int const cpu = m == nullptr ? v.cpus[k] : m->cpu.load(sync::relaxed);
      if (m == nullptr) me.rounds_until_look = 0;
      is_new |= cpu != v.cpus[k];
      v.cpus[k] = cpu;
    }
    if (is_new) {
      std::vector<policy::Reach> to;
      for (int const cpu : v.cpus) to.push_back(reach_of(here, cpu));
      v.plan = policy::victim_plan(static_cast<int>(me.number), to);
    }
    me.plan = &v.plan;
  } catch (...) {
    // Without memory the others are asked in the order of their numbers.
    forget_victims(me);
  }
}

void forget_victims(Member& gone) noexcept {
  delete gone.victims;
  gone.victims = nullptr;
  gone.plan = nullptr;
}

}  // namespace nigh::openmp::tasks
