// SPDX-License-Identifier: Apache-2.0
#include "bench/openmp_tasks/study.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "bench/pin.hpp"
#include "bench/processes.hpp"
#include "bench/statistics.hpp"
#include "bench/tasks/solver.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

namespace fs = std::filesystem;
using workloads::Family;

constexpr char const* compilers[] = {"gcc", "clang"};

std::string program_file(TaskProgram const& p, std::string const& compiler) {
  return (fs::path(libexec_folder()) / ("task-" + p.program + '-' + compiler)).string();
}

std::string nigh_command() {
  return (fs::path(libexec_folder()) / "../../bin/nigh").lexically_normal().string();
}

std::string why_absent(std::string const& program, bool under_nigh) {
  if (!fs::exists(program)) return "no such compiler with OpenMP was there when this was built";
  if (under_nigh && !fs::exists(nigh_command())) return nigh_command() + " is not there";
  return {};
}

Command command_of(TaskProgram const& p, std::string const& compiler, bool under_nigh, int threads,
                   OpenmpTasksOptions const& o, bool tell = false) {
  Command command;
  if (under_nigh) {
    command.words = {nigh_command(), "run", "--no-coordinator", "--tasks", o.tasks};
    if (tell) command.words.emplace_back("-v");
    command.words.emplace_back("--");
  }
  command.words.push_back(program_file(p, compiler));
  auto const& arguments = o.quick ? p.quick_arguments : p.arguments;
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  command.environment["OMP_NUM_THREADS"] = std::to_string(threads);
  return command;
}

// A program inherits the cpus of this thread, which a workload's team may have pinned to one.
Ended run_program(Command const& command, OpenmpTasksOptions const& o) {
  if (!allow_this_thread(o.cpus)) throw std::runtime_error("the system refuses the cpus");
  return run_together({command}, 300)[0];
}

std::vector<TaskWay> ways_of(TaskProgram const& p, int threads) {
  std::vector<int> sizes{1};
  if (threads > 1) sizes.push_back(threads);
  std::vector<TaskWay> ways;
  for (int const team : sizes) {
    for (std::string const compiler : compilers)
      for (bool const under_nigh : {false, true})
        ways.push_back({.variant = "openmp-" + compiler + (under_nigh ? "/nigh" : "/plain"),
                        .threads = team,
                        .absent = why_absent(program_file(p, compiler), under_nigh)});
    if (p.workload.empty()) continue;
    for (Family const family : {Family::nigh, Family::tbb})
      ways.push_back(
          {.variant = name_of(family), .threads = team, .absent = workloads::why_absent(family)});
  }
  return ways;
}

// Of what a program prints: "seconds 0.123 verified".
void take_sample(TaskWay& way, Ended const& ended, std::string const& program) {
  double seconds = 0;
  char word[16] = "";
  if (std::sscanf(ended.output.c_str(), "seconds %lf %15s", &seconds, word) != 2)
    throw std::runtime_error(
        fmt::format("{}: exit status {} {}", program, ended.status, ended.errors));
  way.verified = way.verified && ended.status == 0 && std::string(word) == "verified";
  way.seconds.push_back(seconds);
}

class Sampler {
 public:
  explicit Sampler(OpenmpTasksOptions const& o)
      : o_(o), solver_({&o.machine, o.cpus, pin_this_thread}) {}

  void sample(TaskProgram const& p, TaskWay& way) {
    auto const dash = way.variant.find('-');
    if (dash == std::string::npos) return solve(p, way);
    auto const slash = way.variant.find('/');
    std::string const compiler = way.variant.substr(dash + 1, slash - dash - 1);
    bool const under_nigh = way.variant.substr(slash + 1) == "nigh";
    Ended const ended = run_program(command_of(p, compiler, under_nigh, way.threads, o_), o_);
    take_sample(way, ended, program_file(p, compiler));
  }

 private:
  void solve(TaskProgram const& p, TaskWay& way) {
    Question const question{p.workload, o_.quick ? p.quick_workload_size : p.workload_size};
    Family const family = way.variant == name_of(Family::tbb) ? Family::tbb : Family::nigh;
    Timed const timed = solver_.solve(question, family, way.threads, 1);
    way.verified = way.verified && timed.answer == solver_.instance(question).expected();
    way.seconds.push_back(timed.seconds);
  }

  OpenmpTasksOptions const& o_;
  Solver solver_;
};

}  // namespace

std::vector<TaskProgram> const& task_programs() {
  static std::vector<TaskProgram> const all{
      {"fib", "fib", {"24"}, {"12"}, "fib", "24", "12"},
      {"nqueens", "nqueens", {"10"}, {"6"}, "nqueens", "10", "6"},
      {"uts", "uts", {"T1"}, {"T1-tiny"}, "uts", "T1", "T1-tiny"},
      {"floorplan", "floorplan", {"8"}, {"5"}, "", "", ""},
      {"health", "health", {"60"}, {"5"}, "", "", ""},
      {"sort", "sort", {"2000000"}, {"20000"}, "mergesort", "2000000", "20000"},
      {"fft", "fft", {"262144"}, {"4096"}, "", "", ""},
      {"strassen", "strassen", {"1024"}, {"128"}, "strassen", "1024", "128"},
      {"alignment", "alignment", {"60"}, {"10"}, "", "", ""},
      {"sparselu single",
       "sparselu",
       {"50", "single"},
       {"9", "single"},
       "sparselu",
       "50x32",
       "9x32"},
      {"sparselu for", "sparselu", {"50", "for"}, {"9", "for"}, "", "", ""},
      {"jacobi", "jacobi", {"160"}, {"20"}, "", "", ""},
  };
  return all;
}

std::vector<TaskCounts> counts_in(std::string const& errors) {
  for (std::size_t at = errors.find("nigh: "); at != std::string::npos;
       at = errors.find("nigh: ", at + 1)) {
    TaskCounts c;
    std::size_t const end = errors.find('\n', at);
    std::string const line = errors.substr(at, end == std::string::npos ? end : end - at);
    // Colons may stand in the program's name, and follow levels of steals.
    for (std::size_t colon = line.find(": "); colon != std::string::npos;
         colon = line.find(": ", colon + 1))
      if (std::sscanf(line.c_str() + colon,
                      ": %ld tasks, %ld run at once, %ld stolen, %ld times asleep", &c.tasks,
                      &c.at_once, &c.stolen, &c.asleep) == 4)
        return {c};
  }
  return {};
}

OpenmpTasksStudy study_openmp_tasks(OpenmpTasksOptions const& o) {
  OpenmpTasksStudy study;
  int steps = 0;
  for (TaskProgram const& p : o.programs) {
    study.rows.push_back({p, ways_of(p, static_cast<int>(o.cpus.size())), {}});
    steps += static_cast<int>(study.rows.back().ways.size()) * o.repetitions;
  }
  Sampler sampler(o);
  nigh::platform::Progress progress(steps);
  for (TaskRow& row : study.rows)
    for (int repetition = 0; repetition < o.repetitions; ++repetition)
      for (TaskWay& way : row.ways) {
        progress.step(row.program.name + ' ' + way.variant);
        if (way.absent.empty()) sampler.sample(row.program, way);
      }
  for (TaskRow& row : study.rows)
    for (std::string const compiler : compilers) {
      if (!why_absent(program_file(row.program, compiler), true).empty()) continue;
      int const threads = static_cast<int>(o.cpus.size());
      Ended const ended = run_program(command_of(row.program, compiler, true, threads, o, true), o);
      for (TaskCounts c : counts_in(ended.errors)) {
        c.compiler = compiler;
        c.threads = threads;
        row.counts.push_back(c);
      }
    }
  return study;
}

}  // namespace bench
