// SPDX-License-Identifier: Apache-2.0
// nigh bench openmp-tasks: programs with OpenMP tasks, plain and under nigh.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "bench/benchmark.hpp"
#include "bench/openmp_tasks/study.hpp"
#include "bench/options.hpp"

namespace bench {
namespace {

struct OpenmpTasksFlags : Flags {
  std::string programs, tasks = "prefer";
  long threads = 2;
};

std::vector<TaskProgram> programs_of(std::string const& list) {
  if (list.empty()) return task_programs();
  return each<TaskProgram>("--program", list,
                           [](std::string const& argument, std::string const& word) {
                             for (TaskProgram const& p : task_programs())
                               if (p.name == word) return p;
                             refuse(argument, word, "is no program; --list names them");
                           });
}

OpenmpTasksOptions check(OpenmpTasksFlags const& f) {
  OpenmpTasksOptions o{live_machine(), {}, programs_of(f.programs), f.tasks};
  o.quick = f.quick;
  o.repetitions =
      static_cast<int>(number_or("--repetitions", f.repetitions, f.quick ? 1 : 5, 1000));
  if (f.tasks != "prefer" && f.tasks != "strict" && f.tasks != "auto" && f.tasks != "off")
    refuse("--tasks", f.tasks, "is none of auto, off, prefer, strict");
  o.cpus = cpus_for(f.threads, o.machine);
  return o;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  OpenmpTasksFlags f;
  std::optional<OpenmpTasksOptions> o;
  return run_benchmark(
      {.name = "openmp-tasks",
       .measures = "programs with OpenMP tasks of gcc and clang, plain and under nigh",
       .wrong = "a program's answer is wrong",
       .samples = "each; default 5",
       .quick = "small problems, once",
       .process = Benchmark::Process::deep_tasks,
       .options =
           [&](CLI::App& app) {
             app.add_option("--program", f.programs, "these only, as fib,sort; default: all")
                 ->type_name("LIST");
             app.add_option("--threads", f.threads, "threads, beside one; default 2");
             app.add_option("--tasks", f.tasks, "what nigh run --tasks gets; default prefer")
                 ->type_name("HOW");
           },
       .list =
           [] {
             for (TaskProgram const& p : task_programs()) std::puts(p.name.c_str());
           },
       .plan = [&]() -> Plan {
         o = check(f);
         Plan plan{&o->machine};
         plan.parts.push_back([&o]() -> Findings { return findings(study_openmp_tasks(*o), *o); });
         return plan;
       }},
      f, argc, argv);
}
