// SPDX-License-Identifier: Apache-2.0
// cluster-tasks: one problem solved by the tasks of all ranks, as a plain program for mpirun. The
// line on standard output is the same for any number of ranks and workers, and any policies; times
// and counters go to standard error, when asked for.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nigh/cluster.hpp>
#include <optional>

#include "bench/cluster/mpi_processes.hpp"
#include "bench/options.hpp"
#include "workloads/cluster.hpp"

namespace {

using namespace bench;

struct Flags {
  std::string problem = "uts", size, victims = "hierarchical", chunks = "hierarchical";
  long cutoff = 0, repetitions = 1;
  std::optional<long> workers, task_capacity, queue_capacity;
  bool supervised = false, tiny = false, report = false, list = false;

  void declare(CLI::App& app) {
    app.add_option("--problem", problem, "fib, nqueens, uts (default) or sparselu")
        ->type_name("NAME");
    app.add_option("--size", size, "as 30, 12, T1, 50x32; default: a usual one")->type_name("SIZE");
    app.add_option("--cutoff", cutoff, "depth from which on no tasks are made; default 0: none");
    app.add_option("--victims", victims,
                   "random, ring, lifelines or hierarchical (default): ranks to ask")
        ->type_name("HOW");
    app.add_option("--chunks", chunks,
                   "one, fixed,N, half, hierarchical (default) or hierarchical,N: tasks at a time")
        ->type_name("HOW");
    app.add_option("--workers", workers, "of each rank; default: its share of the host's cpus");
    app.add_option("--task-capacity", task_capacity, "tasks that may wait at one worker");
    app.add_option("--queue-capacity", queue_capacity, "tasks placed at one other rank");
    app.add_option("--repetitions", repetitions, "how often to solve it; default 1");
    app.add_flag("--supervised", supervised,
                 "tasks of a lost rank are run again, where the MPI lets the others go on");
    app.add_flag("--tiny", tiny, "all problems instead, in sizes that show whether they work");
    app.add_flag("--report", report, "on standard error: ranks, workers, times, counters");
    app.add_flag("--list", list, "name the problems and leave");
  }
};

nigh::cluster::session_options options_from(Flags const& f) {
  constexpr long most = 1 << 20;
  nigh::cluster::session_options o;
  o.supervised = f.supervised;
  o.workers.workers = static_cast<int>(number_or("--workers", f.workers, 0, 1024));
  if (!nigh::cluster::set_victims(o, f.victims))
    refuse("--victims", f.victims, "is not random, ring, hierarchical or lifelines");
  if (!nigh::cluster::set_chunks(o, f.chunks))
    refuse("--chunks", f.chunks, "is not one, half, hierarchical, fixed,N or hierarchical,N");
  o.workers.task_capacity = static_cast<std::size_t>(number_or(
      "--task-capacity", f.task_capacity, static_cast<long>(o.workers.task_capacity), most));
  o.queue_capacity = static_cast<std::size_t>(
      number_or("--queue-capacity", f.queue_capacity, static_cast<long>(o.queue_capacity), most));
  return o;
}

struct Counter {
  char const* name;
  std::uint64_t nigh::cluster::rank_counters::* value;
};
using Counters = nigh::cluster::rank_counters;
constexpr Counter counters[] = {
    {"asked", &Counters::steals_asked},     {"failed", &Counters::steals_failed},
    {"stolen", &Counters::tasks_stolen},    {"given", &Counters::tasks_given},
    {"placed", &Counters::tasks_placed},    {"inline", &Counters::placed_inline},
    {"messages", &Counters::messages_sent}, {"bytes", &Counters::bytes_sent},
    {"visits", &Counters::window_steals},   {"window", &Counters::window_tasks},
};

// Rank 0 prints the counters of all ranks.
void report(MpiProcesses const& processes, nigh::cluster::session& here,
            std::vector<double> const& seconds) {
  std::vector<std::uint64_t> mine;
  auto const c = here.counters();
  for (auto const& counter : counters) mine.push_back(c.*counter.value);
  auto const all = [&] {
    nigh::cluster::mpi_section const section;
    return processes.gather(mine);
  }();
  if (here.rank() > 0) return;
  std::string text =
      fmt::format("ranks {}\nworkers {}\nseconds", here.ranks(), here.workers().workers());
  for (double const s : seconds) text += fmt::format(" {:.6f}", s);
  for (std::size_t n = 0; n < all.size(); ++n) {
    auto const column = n % std::size(counters);
    if (column == 0) text += fmt::format("\nrank {}", n / std::size(counters));
    text += fmt::format(" {} {}", counters[column].name, all[n]);
  }
  fmt::print(stderr, "{}\n", text);
}

// One problem in one size, and how it is solved on all ranks.
struct Job {
  std::string name;
  std::unique_ptr<workloads::Instance> known;
  std::function<workloads::Answer()> solve;
};

Job job_from(workloads::ClusterProblem const& problem, std::string const& size, int cutoff,
             int ranks) {
  Job job;
  job.name = fmt::format("{} {}", problem.name, size);
  try {
    job.known = workloads::find_problem(problem.name)->make(size, cutoff);
  } catch (std::invalid_argument const& e) {
    throw UsageError(std::string("--size: ") + e.what());
  }
  job.solve = problem.make(size, cutoff, ranks);
  return job;
}

std::vector<Job> jobs_from(Flags const& f, int ranks) {
  auto const cutoff = static_cast<int>(in_range("--cutoff", f.cutoff, 0, 1'000'000));
  auto const* const problem = workloads::find_cluster_problem(f.problem);
  if (problem == nullptr) refuse("--problem", f.problem, "is not there; --list names the problems");
  std::vector<Job> jobs;
  if (f.tiny) {
    for (auto const& p : workloads::cluster_problems())
      for (auto const& size : workloads::find_problem(p.name)->tiny)
        jobs.push_back(job_from(p, size, cutoff, ranks));
  } else {
    auto const& usual = workloads::find_problem(f.problem)->usual.front();
    jobs.push_back(job_from(*problem, f.size.empty() ? usual : f.size, cutoff, ranks));
  }
  return jobs;
}

// Rank 0's is judged.
workloads::Answer timed(Job const& job, MpiProcesses const& processes,
                        std::vector<double>& seconds) {
  {
    nigh::cluster::mpi_section const section;
    processes.wait_for_all();
  }
  auto const start = std::chrono::steady_clock::now();
  auto const answer = job.solve();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  nigh::cluster::mpi_section const section;
  seconds.push_back(processes.longest(took.count()));
  return answer;
}

void run(Flags const& f, int& argc, char**& argv, MpiProcesses& processes) {
  bool const speaks = processes.rank() == 0;
  if (f.list) {
    for (auto const& p : workloads::cluster_problems())
      if (speaks) fmt::print("{}\n", p.name);
    return;
  }
  auto const jobs = jobs_from(f, processes.size());
  auto const options = options_from(f);
  auto const repetitions = in_range("--repetitions", f.repetitions, 1, 1'000'000);

  processes.speak_again();
  nigh::cluster::session here(argc, argv, options);
  std::vector<double> seconds;
  std::string wrong;
  for (auto const& job : jobs) {
    auto const expected = speaks ? job.known->expected() : workloads::Answer{};
    workloads::Answer answer = 0;
    for (long n = 0; n < repetitions; ++n) {
      answer = timed(job, processes, seconds);
      if (answer != expected) wrong = fmt::format("{}: the answer is {}", job.name, expected);
    }
    if (speaks) fmt::print("{} answer {}\n", job.name, answer);
  }
  if (f.report) report(processes, here, seconds);
  if (speaks && !wrong.empty()) throw std::runtime_error(wrong);
}

}  // namespace

int main(int argc, char** argv) {
  MpiProcesses processes(argc, argv);
  Flags flags;
  return run_program(
      "cluster-tasks", "One problem, solved by the tasks of all ranks", argc, argv,
      [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags, argc, argv, processes); });
}
