// SPDX-License-Identifier: Apache-2.0
#include "bench/tasks/options.hpp"

#include <CLI/CLI.hpp>
#include <sstream>
#include <stdexcept>

#include "bench/command.hpp"
#include "bench/options.hpp"

namespace bench {

namespace {

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

}  // namespace

void TasksFlags::declare(CLI::App& app) {
  app.add_option("--problem", problems,
                 "solve these only, as fib,uts or uts:T3,nqueens:13; default: all");
  app.add_option("--threads", threads, "threads of each runtime, beside one; default 2");
  app.add_option("--repetitions", repetitions,
                 "samples of each; default 5, one with --large, 15 of the empty tasks");
  app.add_option("--cutoff", cutoff,
                 "depth below which fib, nqueens and uts make no tasks; default: no cutoff");
  app.add_option("--tasks", tasks, "empty tasks in one sample; default 100000");
  app.add_flag("--quick", quick, "tiny problems and few samples: does it work?");
  app.add_flag("--large", large, "the large problems: UTS T1L, T2L, T3L, more queens; takes long");
  app.add_flag("--fib", fib, "instead: what one spawn costs nigh, beside the least it could cost");
  app.add_flag("--latency", latency, "instead: how soon a second thread takes part");
  app.add_flag("--oversubscribed", oversubscribed, "instead: more threads than cpus");
  app.add_option("--json", json, "write results as JSON lines to this file, - for standard output");
  app.add_option("--plot", plot, "draw the comparison, FILE.svg or FILE.png");
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

}  // namespace bench
