// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which configurations can be tried for a program on a machine? Pure: the same facts, the same
// space.

#include <nigh/result.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/run/plan.hpp"
#include "cli/run/request.hpp"
#include "platform/elf.hpp"
#include "tune/candidate.hpp"

namespace nigh::cli {

// Values to try; none of an option: the usual ones.
struct Choices {
  std::vector<int> threads = {};
  std::vector<Binding> binds = {};
  std::vector<MemoryChoice> memories = {};
  std::vector<LoopChoice> schedules = {};
  std::vector<int> ranks = {};  // on a host; for MPI programs only, as the next
  std::vector<cpu_order> rank_orders = {};
};

// For a program of MPI ranks, on each host.
struct Ranks {
  int per_host = 1;
  std::optional<cpu_order> order = {};  // empty: the launcher decides
  bool smt = false;                     // threads share cores
  int cores_off = 0;

  bool operator==(Ranks const&) const = default;
};

struct Space {
  // [0] is the program as it is, without any option.
  std::vector<Request> requests = {};
  std::vector<Ranks> ranks = {};                  // [as requests]; empty: no program of MPI ranks
  std::vector<tune::Candidate> candidates = {};   // the same ones, by the index of each value
  std::vector<std::string> notes = {};            // what was left out, and why
  std::string as_it_is = "the program as it is";  // the name of [0]
};
std::string name_of(Space const& space, int candidate);

// Which schedules of loops a program can obey.
enum class Hears { nothing, openmp, all };
Hears hears(platform::ElfFacts const& program);

// The error is make_plan()'s about a requested value. `quota`: of the cgroup, in cpus: more threads
// than it has time for are tried only on request.
result<Space> space_of(topology const& machine, Choices const& choices, Hears schedules,
                       Inherited const& inherited, std::optional<double> quota = {});

}  // namespace nigh::cli
