// SPDX-License-Identifier: Apache-2.0
// Empty tasks under each runtime: a peer is one function that spawns and runs so many of them.

#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nigh/openmp_locality_queues.hpp>
#include <nigh/runtime.hpp>
#include <nigh/topology.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/pin.hpp"
#include "bench/probes.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/tasks/studies.hpp"
#include "platform/progress.hpp"

#if defined(NIGH_WITH_TBB)
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#endif

#if defined(NIGH_WITH_OPENMP)
#include <omp.h>
#endif

namespace bench {

namespace {

struct Peer {
  std::string name;
  std::function<void(long tasks)> run;  // returns when all have run; null: absent
  std::string why_absent;
};

// Each on these cpus, and asleep between calls. The lists may be used as long as they live.
std::vector<Peer> nigh_peers(nigh::topology const& machine, std::vector<int> const& cpus) {
  nigh::runtime_options options;
  options.machine = &machine;
  options.workers = static_cast<int>(cpus.size());
  auto const runtime = std::make_shared<nigh::runtime>(options);
  int const domains = machine.cpu_domains();

  // As the Jacobi solver does: one worker spawns, all run, each task near one of the domains.
  auto const from_a_worker = [runtime, domains](long tasks) {
    runtime->run([&] {
      for (long n = 0; n < tasks; ++n)
        runtime->spawn(nigh::near(static_cast<int>(n % domains)), [] {});
    });
  };
  auto const from_outside = [runtime, domains](long tasks) {
    for (long n = 0; n < tasks; ++n)
      runtime->spawn(nigh::near(static_cast<int>(n % domains)), [] {});
    runtime->wait();
  };
  return {{"nigh/spawn-in-task", from_a_worker, {}}, {"nigh/spawn-outside", from_outside, {}}};
}

#if defined(NIGH_WITH_TBB)

struct Arena {
  oneapi::tbb::global_control limit;
  oneapi::tbb::task_arena arena;
  oneapi::tbb::task_group group;

  explicit Arena(int threads)
      : limit(oneapi::tbb::global_control::max_allowed_parallelism,
              static_cast<std::size_t>(threads)),
        arena(threads) {}
};

std::vector<Peer> tbb_peers(nigh::topology const&, std::vector<int> const& cpus) {
  auto const shared = std::make_shared<Arena>(static_cast<int>(cpus.size()));
  auto const tasks_only = [shared](long tasks) {
    shared->arena.execute([&] {
      for (long n = 0; n < tasks; ++n) shared->group.run([] {});
      shared->group.wait();
    });
  };
  return {{"tbb/task-group", tasks_only, {}}};
}

#endif

#if defined(NIGH_WITH_OPENMP)

std::vector<Peer> openmp_peers(nigh::topology const& machine, std::vector<int> const& cpus) {
  auto const threads = static_cast<int>(cpus.size());
#pragma omp parallel num_threads(threads)
  pin_this_thread(cpus[static_cast<std::size_t>(omp_get_thread_num())]);

  auto const tasks_only = [threads](long tasks) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (long n = 0; n < tasks; ++n) {
#pragma omp task
      asm volatile("");
    }
  };
  auto const queues = std::make_shared<nigh::openmp::locality_queues<int>>(machine);
  int const domains = machine.cpu_domains();
  auto const with_queues = [threads, queues, domains](long tasks) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (long n = 0; n < tasks; ++n) {
      queues->enqueue(static_cast<int>(n % domains), 0);
#pragma omp task
      queues->process_one([](int) {});
    }
  };
#if defined(__clang__)
  std::string const family = "openmp-clang/";
#else
  std::string const family = "openmp-gcc/";
#endif
  return {{family + "tasks", tasks_only, {}}, {family + "tasks+queues", with_queues, {}}};
}

#endif

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
  nigh::platform::Progress progress(o.empty_repetitions * static_cast<int>(peers.size()));
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
