// SPDX-License-Identifier: Apache-2.0
#include "bench/tasks/empty_tasks.hpp"

#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "bench/idle.hpp"
#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/tasks/peers.hpp"

namespace bench {

namespace {

std::vector<Peer> all_peers(TasksOptions const& o) {
  std::vector<Peer> peers = nigh_peers(o.machine, o.cpus);
  auto const append = [&](std::vector<Peer> more) {
    for (Peer& p : more) peers.push_back(std::move(p));
  };
#if defined(NIGH_WITH_TBB)
  append(tbb_peers(o.machine, o.cpus));  // before OpenMP pins this thread, which oneTBB's inherit
#else
  append({{"tbb/task-group", nullptr, "this was built without oneTBB"}});
#endif
#if defined(NIGH_WITH_OPENMP)
  append(openmp_peers(o.machine, o.cpus));
#else
  append({{"openmp/tasks", nullptr, "the compiler had no OpenMP"}});
#endif
  return peers;
}

Result start_result(TasksOptions const& o, std::string variant) {
  Result r;
  r.bench = "tasks";
  r.variant = std::move(variant);
  r.params = {{"threads", static_cast<long>(o.threads())}, {"tasks", o.tasks}};
  return r;
}

std::vector<Result> time_tasks(TasksOptions const& o, std::vector<Peer> const& peers) {
  std::vector<Result> results;
  for (Peer const& p : peers) {
    Result r = start_result(o, p.name);
    r.metric = "time_per_task";
    r.unit = "ns";
    r.absent = p.run ? "" : p.why_absent;
    results.push_back(std::move(r));
  }
  Progress progress(o.empty_repetitions * static_cast<int>(peers.size()));
  for (int repetition = -1; repetition < o.empty_repetitions; ++repetition)  // the first warms up
    for (std::size_t n = 0; n < peers.size(); ++n) {
      if (!peers[n].run) continue;
      if (repetition >= 0) progress.step(peers[n].name);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      auto const start = std::chrono::steady_clock::now();
      peers[n].run(o.tasks);
      std::chrono::duration<double, std::nano> const passed =
          std::chrono::steady_clock::now() - start;
      if (repetition >= 0)
        results[n].samples.push_back(passed.count() / static_cast<double>(o.tasks));
    }
  return results;
}

// In a fresh process state: only nigh's runtime is alive besides this thread.
Result idle_cpu(TasksOptions const& o) {
  Result r = start_result(o, "nigh/idle");
  r.metric = "cpu_used_when_idle";
  r.unit = "percent of one cpu";
  auto const peers = nigh_peers(o.machine, o.cpus);
  for (int n = 0; n < (o.quick ? 1 : 3); ++n) {
    peers.front().run(o.tasks / 10);
    r.samples.push_back(100 * cpus_used_while_asleep(o.quick ? 0.2 : 1.0, 10));
  }
  return r;
}

}  // namespace

std::vector<Result> measure_empty_tasks(TasksOptions const& o) {
  Result idle = idle_cpu(o);
  std::vector<Result> results = time_tasks(o, all_peers(o));
  results.push_back(std::move(idle));
  return results;
}

std::string describe_empty_tasks(std::vector<Result> const& results, TasksOptions const& o) {
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
             o.threads(), o.tasks, o.empty_repetitions) +
         t.text();
}

}  // namespace bench
