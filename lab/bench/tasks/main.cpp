// SPDX-License-Identifier: Apache-2.0
// nigh bench tasks: problems of recursive tasks under every runtime, and what an empty task costs.
#include <CLI/CLI.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "bench/benchmark.hpp"
#include "bench/options.hpp"
#include "bench/tasks/studies.hpp"

namespace bench {
namespace {

struct TasksFlags : Flags {
  std::string problems;
  long threads = 2, tasks = 100'000, cutoff = 0;
  bool large = false;
  bool fib = false, latency = false, oversubscribed = false;  // instead of the problems
};

std::string problem_names() {
  std::string names;
  for (workloads::Problem const& p : workloads::problems())
    names += (names.empty() ? "" : ", ") + p.name;
  return names;
}

// "fib,uts:T3": a problem in its usual sizes, or in the one named.
std::vector<Question> parse_problems(TasksFlags const& f) {
  auto const cutoff = static_cast<int>(f.cutoff);
  std::vector<Question> questions;
  auto const add = [&](workloads::Problem const& p) {
    if (f.quick) return questions.push_back({p.name, p.tiny.back(), cutoff});
    for (std::string const& size : f.large ? p.large : p.usual)
      questions.push_back({p.name, size, cutoff});
  };
  if (f.problems.empty())
    for (workloads::Problem const& p : workloads::problems()) add(p);
  std::istringstream list(f.problems);
  if (f.problems.ends_with(',')) throw UsageError("--problem: nothing after the last comma");
  for (std::string word; std::getline(list, word, ',');) {
    auto const colon = word.find(':');
    workloads::Problem const* const problem = workloads::find_problem(word.substr(0, colon));
    if (problem == nullptr)
      throw UsageError("--problem: \"" + word.substr(0, colon) + "\" is none of " +
                       problem_names());
    if (colon == std::string::npos) {
      add(*problem);
      continue;
    }
    Question const q{problem->name, word.substr(colon + 1), cutoff};
    try {
      problem->make(q.size, q.cutoff);
    } catch (std::invalid_argument const& e) {
      throw UsageError("--problem: " + problem->name + ": " + e.what());
    }
    questions.push_back(q);
  }
  return questions;
}

TasksOptions check(TasksFlags const& f) {
  TasksOptions o(live_machine());
  o.quick = f.quick;
  o.tasks = in_range("--tasks", f.tasks, 1, 1'000'000'000);
  auto const repetitions = [&](int otherwise) {
    return static_cast<int>(number_or("--repetitions", f.repetitions, otherwise, 1'000'000));
  };
  o.repetitions = repetitions(f.quick ? 2 : f.large ? 1 : 5);
  o.empty_repetitions = repetitions(f.quick ? 3 : 15);
  o.warm_up = !f.large;
  o.sample_seconds = f.quick || f.large ? 0 : 0.1;
  if (f.quick) o.tasks = std::min(o.tasks, 20'000L);
  in_range("--cutoff", f.cutoff, 0, 1'000'000);
  o.questions = parse_problems(f);

  o.cpus = cpus_for(f.threads, o.machine);
  return o;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  TasksFlags f;
  std::optional<TasksOptions> o;
  return run_benchmark(
      {.name = "tasks",
       .measures = "problems of recursive tasks under every runtime, and what an empty task costs",
       .wrong = "an answer differs from the expected one",
       .samples = "each; default 5, one with --large, 15 of the empty tasks",
       .quick = "tiny problems and few samples",
       .process = Benchmark::Process::deep_tasks,
       .options =
           [&](CLI::App& app) {
             app.add_option("--problem", f.problems,
                            "solve these only, as fib,uts or uts:T3,nqueens:13; default: all")
                 ->type_name("LIST");
             app.add_option("--threads", f.threads,
                            "threads of each runtime, beside one; default 2");
             app.add_option(
                 "--cutoff", f.cutoff,
                 "depth below which fib, nqueens and uts make no tasks; default: no cutoff");
             app.add_option("--tasks", f.tasks, "empty tasks in one sample; default 100000");
             app.add_flag("--large", f.large,
                          "the large problems: UTS T1L, T2L, T3L, more queens; takes long");
             app.add_flag("--fib", f.fib,
                          "instead: what one spawn costs nigh, beside the least it could cost");
             app.add_flag("--latency", f.latency, "instead: how soon a second thread takes part");
             app.add_flag("--oversubscribed", f.oversubscribed, "instead: more threads than cpus");
           },
       .plan = [&]() -> Plan {
         o = check(f);
         Plan plan{&o->machine};
         auto const add = [&](auto const& measure, auto const& show) {
           plan.parts.push_back([&o, measure, show]() -> Findings {
             auto found = measure(*o);
             return {show(found, *o) + '\n', std::move(found)};
           });
         };
         if (f.fib) add(measure_fib, describe_fib);
         if (f.latency)
           add(measure_latency, [](std::vector<Result> const& found, auto const&) {
             return describe_latency(found);
           });
         if (f.oversubscribed) add(measure_oversubscribed, describe_oversubscribed);
         if (!plan.parts.empty()) return plan;
         if (f.problems.empty()) add(measure_empty_tasks, describe_empty_tasks);
         auto const rows = std::make_shared<std::vector<Row>>();
         plan.parts.push_back([&o, rows]() -> Findings {
           *rows = measure_matrix(*o);
           return {describe(*rows, *o) + '\n', results(*rows)};
         });
         plan.parts.push_back([&o, rows]() -> Findings {
           auto const seen = measure_characteristics(*rows, *o);
           return {describe(seen, *o) + '\n', results(seen, *o)};
         });
         return plan;
       }},
      f, argc, argv);
}
