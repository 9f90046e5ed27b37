// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs with OpenMP tasks, as gcc and clang build them, plain and under nigh; beside them the
// same problem by nigh's own interface and by oneTBB, where the workloads have it.

#include <nigh/topology.hpp>
#include <string>
#include <vector>

#include "bench/results.hpp"

namespace bench {

struct TaskProgram {
  std::string name;     // of the problem; program task-NAME-COMPILER
  std::string program;  // without the compiler
  std::vector<std::string> arguments, quick_arguments;
  std::string workload, workload_size, quick_workload_size;  // empty: there is none

  bool operator==(TaskProgram const&) const = default;
};

std::vector<TaskProgram> const& task_programs();

struct OpenmpTasksOptions {
  nigh::topology machine;
  std::vector<int> cpus;
  std::vector<TaskProgram> programs;
  std::string tasks;  // what nigh run --tasks gets
  int repetitions = 5;
  bool quick = false;
};

// One way to solve one problem with so many threads.
struct TaskWay {
  std::string variant;  // openmp-gcc/plain, openmp-gcc/nigh, nigh, tbb
  int threads = 1;
  std::vector<double> seconds = {};
  bool verified = true;
  std::string absent = {};
};

// Counts that nigh prints of one run of a program: the "Benchmark Characteristics" of HotSLAW.
struct TaskCounts {
  std::string compiler;
  int threads = 1;
  long tasks = 0, at_once = 0, stolen = 0, asleep = 0;
};

struct TaskRow {
  TaskProgram program;
  std::vector<TaskWay> ways;
  std::vector<TaskCounts> counts;
};

struct OpenmpTasksStudy {
  std::vector<TaskRow> rows;
};

// nigh's line about the tasks of a program: "nigh: fib: 63 tasks, 19 run at once, 0 stolen, 1 times
// asleep". Nothing, if there is none.
std::vector<TaskCounts> counts_in(std::string const& errors);

OpenmpTasksStudy study_openmp_tasks(OpenmpTasksOptions const& o);
std::string describe(OpenmpTasksStudy const& study, OpenmpTasksOptions const& o);
std::vector<Result> results(OpenmpTasksStudy const& study, OpenmpTasksOptions const& o);

}  // namespace bench
