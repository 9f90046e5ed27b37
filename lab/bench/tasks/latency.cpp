// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <atomic>
#include <functional>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <stdexcept>

#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "bench/probes.hpp"
#include "bench/statistics.hpp"
#include "bench/tasks/rendezvous.hpp"
#include "bench/tasks/solver.hpp"
#include "bench/tasks/studies.hpp"
#include "workloads/problem.hpp"

namespace bench {

namespace {

using workloads::Family;

void fork_two(std::function<void()> const& body) {
  nigh::fork_join([&body] { body(); }, [&body] { body(); });
}

std::vector<Way> ways(TasksOptions const& o, nigh::runtime& runtime, PeerProcess& peer) {
  std::vector<Way> list;
  list.push_back({"nigh/worker", "", [&runtime](double pause_us, int count) {
                    std::vector<double> samples;
                    runtime.run([&] { samples = time_rendezvous(fork_two, pause_us, count); });
                    return samples;
                  }});
  list.push_back({"nigh/outside", "", [&o](double pause_us, int count) {
                    allow_this_thread(o.cpus);  // nigh does not pin external threads
                    return time_rendezvous(fork_two, pause_us, count);
                  }});
  Way openmp{name_of(Family::openmp) + "/region", why_absent(Family::openmp), nullptr};
  if constexpr (workloads::has_openmp)
    openmp.time = [&o](double pause_us, int count) {
      return time_openmp_rendezvous(o.cpus, pause_us, count);
    };
  list.push_back(openmp);
  list.push_back(
      {PeerProcess::family() + "/region", PeerProcess::why_absent(),
       [&peer](double pause_us, int count) { return peer.rendezvous(pause_us, count); }});
  Way tbb{"tbb/parallel-invoke", why_absent(Family::tbb), nullptr};
  if constexpr (workloads::has_tbb)
    tbb.time = [&o](double pause_us, int count) {
      return time_tbb_rendezvous(o.cpus, pause_us, count);
    };
  list.push_back(tbb);
  list.push_back({"floor/sleeper", "", [&o](double pause_us, int count) {
                    return time_sleeper_rendezvous(o.cpus, pause_us, count);
                  }});
  return list;
}

// While one worker is busy with serial work, what do the others burn?
double cpus_burnt_beside_a_busy_worker(nigh::runtime& runtime, double seconds) {
  std::atomic<bool> over{false};
  runtime.spawn([&over] {
    while (!over.load(std::memory_order_relaxed)) {
    }
  });
  double const used = cpus_used_while_asleep(seconds, 10);
  over.store(true);
  runtime.wait();
  return used - 1;
}

// A loop for all workers, and then nothing.
double cpus_used_after_a_loop(nigh::runtime& runtime, double seconds) {
  runtime.run([] { nigh::parallel_for(0, 1000, [](int) { asm volatile("" ::: "memory"); }); });
  return cpus_used_while_asleep(seconds, 0);
}

Result start_result(std::string variant, std::string metric, std::string unit) {
  Result r;
  r.bench = "tasks/latency";
  r.variant = std::move(variant);
  r.metric = std::move(metric);
  r.unit = std::move(unit);
  return r;
}

}  // namespace

std::vector<Result> measure_latency(TasksOptions const& o) {
  if (o.threads() < 2) throw UsageError("--latency: needs two threads, so two cpus");
  nigh::runtime_options options;
  options.machine = &o.machine;
  options.workers = 2;
  nigh::configure_default_runtime(options);
  nigh::runtime runtime(options);
  PeerProcess peer(o.cpus);

  Result busy = start_result("nigh/one-busy", "cpu_burnt_by_others", "percent of one cpu");
  Result idle = start_result("nigh/idle", "cpu_used_when_idle", "percent of one cpu");
  Result after = start_result("nigh/after-a-loop", "cpu_used_after_work", "percent of one cpu");
  for (int n = 0; n < (o.quick ? 1 : 9); ++n)
    after.samples.push_back(100 * cpus_used_after_a_loop(runtime, 0.2));
  for (int n = 0; n < (o.quick ? 1 : 3); ++n) {
    busy.samples.push_back(100 * cpus_burnt_beside_a_busy_worker(runtime, o.quick ? 0.1 : 1));
    idle.samples.push_back(100 * cpus_used_while_asleep(o.quick ? 0.1 : 1, 10));
  }
  std::vector<Result> results = time_ways("tasks/latency", ways(o, runtime, peer), o.quick);
  Result line = start_result("cache-line", "round_trip", "ns");
  Result steal = start_result("nigh/steal", "steal", "ns");
  for (int round = 0; round < (o.quick ? 1 : 5); ++round) {
    for (double const ns : time_cache_line(o.cpus, 20)) line.samples.push_back(ns);
    for (double const ns : time_steals(runtime, o.quick ? 10 : 200)) steal.samples.push_back(ns);
  }
  for (Result* r : {&line, &steal, &busy, &after, &idle}) results.push_back(std::move(*r));
  return results;
}

std::string describe_latency(std::vector<Result> const& results) {
  std::string text =
      "Fork-join of two bodies that wait for each other, us: median (min); the caller is busy in\n"
      "the pause before, or sleeps when that is longer than 2 ms\n\n" +
      rendezvous_table(results) + '\n';
  double round_trip = 0;
  for (Result const& r : results) {
    Statistics const s = statistics_of(r.samples);
    if (r.metric == "round_trip") {
      round_trip = s.median;
      text += fmt::format("a cache line there and back: {:.0f} ns (min {:.0f})\n", s.median, s.min);
    } else if (r.metric == "steal") {
      text += fmt::format(
          "from a fork until it is seen to have been stolen: {:.0f} ns (min {:.0f}), {:.1f} round "
          "trips\n",
          s.median, s.min, s.median / round_trip);
    } else if (r.metric == "cpu_burnt_by_others") {
      text +=
          fmt::format("burnt by the other workers while one is busy: {:.2f}% of a cpu\n", s.median);
    } else if (r.metric == "cpu_used_after_work") {
      text += fmt::format("used by all workers in the 200 ms after a loop: {:.2f}% of a cpu\n",
                          s.median);
    } else if (r.metric == "cpu_used_when_idle") {
      text += fmt::format(
          "burnt by all workers from 10 ms after their last task: {:.2f}% of a cpu\n", s.median);
    }
  }
  for (Result const& r : results)
    if (!r.absent.empty()) text += r.variant + ": " + r.absent + '\n';
  return text;
}

}  // namespace bench
