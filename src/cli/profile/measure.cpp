// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/counted.hpp"
#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/profile/times_directory.hpp"
#include "cli/program_output.hpp"
#include "cli/run/launch_plan.hpp"
#include "cli/tune/others_use.hpp"
#include "platform/affinity.hpp"
#include "platform/elf_functions.hpp"
#include "platform/launch.hpp"
#include "platform/program.hpp"
#include "platform/progress.hpp"

namespace nigh::cli {
namespace {

// Variables that would make teams smaller, or put threads elsewhere, than the study wants. Each
// run sets the first one anew.
constexpr std::array<char const*, 7> in_the_way{
    "OMP_NUM_THREADS",   "OMP_THREAD_LIMIT", "OMP_PLACES", "OMP_PROC_BIND",
    "GOMP_CPU_AFFINITY", "KMP_AFFINITY",     "NIGH_PLACES"};

// The shim's words (src/openmp/study.cpp) to a process that may not use as many cpus.
constexpr std::string_view too_few_cpus = "NIGH_OPENMP_TEAM is no number of allowed cpus";

std::string indented(std::string const& text) {
  std::string out = "\n  ";
  for (char const c : text) out += c == '\n' ? "\n  " : std::string(1, c);
  return out;
}

class Runs {
 public:
  Runs(topology const& machine, StudyPlan const& plan) : plan_(plan) {
    auto const shim = shim_for(plan.words.front(), Purpose::study);
    if (!shim.why_not.empty()) throw std::runtime_error("profile: " + shim.why_not);
    base_.words = plan.words;
    base_.variables = preload_variables(shim);
    base_.variables.push_back(study_cpus(machine));
    for (char const* const name : in_the_way) {
      base_.removed.emplace_back(name);
      if (auto const value = from_environment(name))
        say("profile", fmt::format("{}={} {}: teams are of every size", name, *value,
                                   name == in_the_way.front() ? "gives way" : "is left out"));
    }
  }

  Study run() {
    int const all = static_cast<int>(plan_.sizes.size()) * plan_.repetitions;
    say("profile", fmt::format("{} of {}, {} of teams", base::counted(all, "run"), plan_.words.front(),
                    base::counted(plan_.sizes.size(), "size")));
    platform::Progress progress(all);
    for (int round = 0; round < plan_.repetitions; ++round) {
      auto sizes = plan_.sizes;
      if (round % 2 == 1) std::reverse(sizes.begin(), sizes.end());
      for (int const team : sizes) {
        if (int const signal = platform::SignalsHeld::pending()) interrupted(signal);
        progress.step(fmt::format("teams of {}", team));
        run_one(team);
      }
    }
    auto study = log_.study();
    study.others_cpus = others_.cpus();
    return study;
  }

 private:
  [[noreturn]] static void interrupted(int signal) {
    say("profile", "interrupted: nothing is written");
    throw ExitStatus{128 + signal};
  }

  void run_one(int team) {
    TimesDirectory const times;
    auto launch = base_;
    for (auto& variable : times.variables(team)) launch.variables.push_back(std::move(variable));
    RunWatch const watch(cpus_);
    auto const ending = platform::run_measured(launch, output_.path(), {});
    if (!ending) throw std::runtime_error("profile: " + ending.message());
    watch.end(ending->seconds, ending->cpu_seconds, others_);
    if (ending->interrupted > 0) interrupted(ending->interrupted);
    if (ending->not_started) {
      say("profile", ending->not_started->message);
      throw ExitStatus{ending->not_started->status};
    }
    if (ending->status != 0) failed(*ending, team);
    auto const processes = read_times(times.path());
    if (!processes) throw std::runtime_error("profile: " + processes.message());
    if (processes->empty()) return saw_none(team);
    if (size_without_ > 0) throw std::runtime_error(none_with(size_without_, team));
    has_seen_some_ = true;
    log_.add(team, ending->seconds, *processes);
  }

  [[noreturn]] void failed(platform::Ending const& ending, int team) {
    constexpr int shown = 5;
    auto const words = last_lines(output_.text(), shown);
    auto const how = ending.signal > 0 ? fmt::format("signal {} ended it", ending.signal)
                                       : fmt::format("its exit status is {}", ending.status);
    say("profile", fmt::format("{} fails with teams of {}: {}{}", plan_.words.front(), team, how,
                    words.empty() ? "" : "; its last words:" + indented(words)));
    if (!from_environment("NIGH_ADJUST")) {
      if (has_seen_some_ || succeeds_without_nigh())
        say("profile",
            "if it relies on the number of threads that it asks for, NIGH_ADJUST=none leaves that "
            "as it is");
      else
        say("profile", "it fails without nigh, too");
    }
    throw ExitStatus{1};
  }

  bool succeeds_without_nigh() {
    platform::Launch plain;
    plain.words = plan_.words;
    auto const ending = platform::run_measured(plain, output_.path(), {});
    if (ending && ending->interrupted > 0) interrupted(ending->interrupted);
    return ending && !ending->not_started && ending->status == 0;
  }

  // A program without regions at one size may have some at another: one more is tried.
  void saw_none(int team) {
    auto const& program = plan_.words.front();
    if (output_.text().find(too_few_cpus) != std::string::npos)
      throw std::runtime_error(fmt::format(
          "profile: a process of {} may use fewer than {}; ranks of mpirun may use all with "
          "--bind-to none",
          program, base::counted(team, "cpu")));
    if (has_seen_some_)
      throw std::runtime_error(
          fmt::format("profile: no times from {} with teams of {}", program, team));
    if (size_without_ > 0 || plan_.sizes.size() == 1) throw std::runtime_error(none_at_all());
    size_without_ = team;
  }

  std::string none_with(int team, int other) const {
    std::string rest;
    for (int const size : plan_.sizes)
      if (size != team) rest += (rest.empty() ? "" : ",") + std::to_string(size);
    return fmt::format(
        "profile: {} begins no parallel regions with teams of {}, but some with teams of {}: "
        "--threads {} leaves that size out",
        plan_.words.front(), team, other, rest);
  }

  std::string none_at_all() const {
    auto const& program = plan_.words.front();
    auto const openmp =
        platform::defines_any(platform::find_program(program).c_str(), platform::openmp_functions);
    return "profile: no parallel regions seen in " + program +
           (openmp == platform::Defined::yes ? ": its OpenMP runtime is linked statically"
                                             : ": it begins none, or leaves by _exit or exec");
  }

  StudyPlan const& plan_;
  platform::Launch base_;
  platform::SignalsHeld const held_;  // before output_, so that they wait until that is gone
  ProgramOutput output_;
  StudyLog log_;
  std::vector<int> const cpus_ = platform::affinity_of_this_thread();
  OthersUse others_;
  bool has_seen_some_ = false;
  int size_without_ = 0;  // of teams, at which no region was seen; 0: there is none yet
};

}  // namespace

Study run_study(topology const& machine, StudyPlan const& plan) {
  return Runs(machine, plan).run();
}

}  // namespace nigh::cli
