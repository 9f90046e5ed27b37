// SPDX-License-Identifier: Apache-2.0
// nigh bench tasks: what an empty task costs from spawn to end, and what a live runtime burns when
// it has nothing to do.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <thread>

#include "bench/command.hpp"
#include "bench/idle.hpp"
#include "bench/pin.hpp"
#include "bench/progress.hpp"
#include "bench/results.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/tasks/peers.hpp"

namespace {

using namespace bench;

struct Flags {
  std::string json;
  long threads = 2, tasks = 100'000, repetitions = 15;
  bool quick = false;
};

std::vector<Peer> all_peers(nigh::topology const& machine, std::vector<int> const& cpus) {
  std::vector<Peer> peers = nigh_peers(machine, cpus);
  auto const append = [&](std::vector<Peer> more) {
    for (Peer& p : more) peers.push_back(std::move(p));
  };
#if defined(NIGH_WITH_TBB)
  append(tbb_peers(machine, cpus));  // before OpenMP pins this thread, which oneTBB's inherit
#else
  append({{"tbb/task-group", nullptr, "this was built without oneTBB"}});
#endif
#if defined(NIGH_WITH_OPENMP)
  append(openmp_peers(machine, cpus));
#else
  append({{"openmp/tasks", nullptr, "the compiler had no OpenMP"}});
#endif
  return peers;
}

Result start_result(Flags const& f, std::string variant) {
  Result r;
  r.bench = "tasks";
  r.variant = std::move(variant);
  r.params = {{"threads", f.threads}, {"tasks", f.tasks}};
  return r;
}

std::vector<Result> time_tasks(Flags const& f, std::vector<Peer> const& peers) {
  std::vector<Result> results;
  for (Peer const& p : peers) {
    Result r = start_result(f, p.name);
    r.metric = "time_per_task";
    r.unit = "ns";
    r.absent = p.run ? "" : p.why_absent;
    results.push_back(std::move(r));
  }
  Progress progress(static_cast<int>(f.repetitions * static_cast<long>(peers.size())));
  for (long repetition = -1; repetition < f.repetitions; ++repetition)  // the first one warms up
    for (std::size_t n = 0; n < peers.size(); ++n) {
      if (!peers[n].run) continue;
      if (repetition >= 0) progress.step(peers[n].name);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      auto const start = std::chrono::steady_clock::now();
      peers[n].run(f.tasks);
      std::chrono::duration<double, std::nano> const passed =
          std::chrono::steady_clock::now() - start;
      if (repetition >= 0)
        results[n].samples.push_back(passed.count() / static_cast<double>(f.tasks));
    }
  return results;
}

// In a fresh process state: only nigh's runtime is alive besides this thread.
Result idle_cpu(Flags const& f, nigh::topology const& machine, std::vector<int> const& cpus) {
  Result r = start_result(f, "nigh/idle");
  r.metric = "cpu_used_when_idle";
  r.unit = "percent of one cpu";
  auto const peers = nigh_peers(machine, cpus);
  for (int n = 0; n < (f.quick ? 1 : 3); ++n) {
    peers.front().run(f.tasks / 10);
    r.samples.push_back(100 * cpus_used_while_asleep(f.quick ? 0.2 : 1.0, 10));
  }
  return r;
}

std::string describe(Flags const& f, std::vector<Result> const& results) {
  Table t;
  t.row({"", "median", "min", "max", ""});
  t.rule();
  for (Result const& r : results) {
    if (!r.absent.empty()) {
      t.row({r.variant, "absent: " + r.absent});
      continue;
    }
    Statistics const s = statistics_of(r.samples);
    char const* unit = r.unit == "ns" ? "ns a task" : "% of a cpu";
    t.row({r.variant, fmt::format("{:.2f}", s.median), fmt::format("{:.2f}", s.min),
           fmt::format("{:.2f}", s.max), unit});
  }
  return fmt::format(
             "Empty tasks, spawned by one of {} threads and run by all: elapsed time per task\n"
             "({} tasks, {} repetitions, all in turn); cpu used by a live runtime from 10 ms after "
             "its\nlast task\n\n",
             f.threads, f.tasks, f.repetitions) +
         t.text();
}

long positive(char const* argument, long value) {
  if (value <= 0)
    throw UsageError(std::string(argument) + ": " + std::to_string(value) +
                     " is not a positive number");
  return value;
}

void run(Flags f) {
  positive("--tasks", f.tasks);
  positive("--repetitions", f.repetitions);
  positive("--threads", f.threads);
  if (f.quick) {
    f.tasks = std::min(f.tasks, 20'000L);
    f.repetitions = std::min(f.repetitions, 3L);
  }
  nigh::result<nigh::topology> machine = nigh::topology::live();
  if (!machine) throw std::runtime_error(machine.message());
  std::vector<int> cpus = machine->order(nigh::cpu_order::compact, nigh::level::domain);
  if (f.threads > static_cast<long>(cpus.size()))
    throw UsageError("--threads: " + std::to_string(f.threads) + " asked for, but only " +
                     std::to_string(cpus.size()) + " cpus are allowed");
  cpus.resize(static_cast<std::size_t>(f.threads));

  ResultFile json("--json", f.json);
  RunRecord const record = record_run(*machine);
  Result idle = idle_cpu(f, *machine, cpus);
  std::vector<Result> results = time_tasks(f, all_peers(*machine, cpus));
  results.push_back(std::move(idle));
  fmt::print(f.json == "-" ? stderr : stdout, "{}", describe(f, results));
  for (Result const& r : results) json.write(json_line(r, record));
  json.finish();
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  Flags flags;
  return run_command(
      "tasks", "what an empty task costs, and what an idle runtime burns", argc, argv,
      [&](CLI::App& app) {
        app.add_option("--threads", flags.threads, "threads of each runtime; default 2");
        app.add_option("--tasks", flags.tasks, "tasks in one sample; default 100000");
        app.add_option("--repetitions", flags.repetitions, "samples of each; default 15");
        app.add_flag("--quick", flags.quick, "few tasks and samples: does it work?");
        app.add_option("--json", flags.json,
                       "write results as JSON lines to this file, - for standard output");
      },
      [&] { run(flags); });
}
