// SPDX-License-Identifier: Apache-2.0
// Fibonacci by the least that one thread must do so that others could steal from it. Nobody does:
// this is what a runtime's own cost per spawn is compared with.

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <nigh/runtime.hpp>
#include <nigh/typed_task.hpp>
#include <thread>

#include "bench/pin.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/tasks/studies.hpp"
#include "platform/progress.hpp"
#include "tasks/fib.hpp"

namespace bench {

namespace {

struct alignas(32) Slot {
  std::uint64_t (*call)(int);
  std::uint64_t result;
  int n;
  std::uint32_t thief;
};

static_assert(sizeof(Slot) == 32);

constexpr std::size_t capacity = 64;  // no recursion here goes deeper

struct Stack {
  Slot* top;
  Slot* split;  // below are the shared ones
  std::atomic<bool> wanted{false};
  std::array<Slot, capacity> slots;
};

std::uint64_t stolen(int n) { return static_cast<std::uint64_t>(n); }

[[gnu::noinline, gnu::cold]] void share(Stack& stack) { stack.split = stack.top; }
[[gnu::noinline, gnu::cold]] std::uint64_t result_of(Slot const& slot) { return slot.result; }

// Kept a call each, as the serial variant is.
[[gnu::noinline]] std::uint64_t descriptors(Slot* top, int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  top->call = stolen;
  top->n = n - 1;
  std::uint64_t const b = descriptors(top + 1, n - 2);
  return descriptors(top, top->n) + b;
}

[[gnu::noinline]] std::uint64_t split_stack(Stack& stack, int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  Slot* const slot = stack.top;
  slot->call = stolen;
  slot->n = n - 1;
  slot->thief = 0;
  stack.top = slot + 1;
  if (stack.wanted.load(std::memory_order_relaxed)) [[unlikely]]
    share(stack);
  std::uint64_t const b = split_stack(stack, n - 2);
  stack.top = slot;
  if (slot < stack.split) [[unlikely]]
    return result_of(*slot) + b;
  return split_stack(stack, slot->n) + b;
}

// Each spawn writes a task's descriptor to memory and each join reads it back.
std::uint64_t fib_by_descriptors(int n) {
  std::array<Slot, capacity> slots;
  return descriptors(slots.data(), n);
}

// The same on a split stack of 32-byte slots: a spawn asks whether a thief wants tasks, a join
// whether the task is still private.
std::uint64_t fib_by_split_stack(int n) {
  Stack stack;
  stack.top = stack.split = stack.slots.data();
  return split_stack(stack, n);
}

using workloads::Family;

struct StartWay {
  std::string name;
  int threads = 1;
  std::function<Timed()> run;
};

[[gnu::noinline]] std::uint64_t typed(nigh::task_context& at, int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  nigh::typed_task<typed> right(at, n - 1);
  std::uint64_t const left = typed(at, n - 2);
  return left + right.join(at);
}

std::uint64_t fib_by_typed_tasks(int n) { return typed(nigh::this_task_context(), n); }

Timed time_call(std::uint64_t (*fib)(int), int n, int cpu) {
  pin_this_thread(cpu);
  auto const start = std::chrono::steady_clock::now();
  std::uint64_t const found = fib(n);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), found};
}

Result start_result(StartWay const& way, int n) {
  Result r;
  r.bench = "tasks/fib";
  r.variant = way.name;
  r.params = {{"n", static_cast<long>(n)}, {"threads", static_cast<long>(way.threads)}};
  r.metric = "time_per_spawn";
  r.unit = "ns";
  r.verified = true;
  return r;
}

}  // namespace

std::vector<Result> measure_fib(TasksOptions const& o) {
  int const n = o.quick ? 20 : 35;
  Question const question{"fib", std::to_string(n), 0};
  Solver solver({&o.machine, o.cpus, pin_this_thread});
  auto const spawns = static_cast<double>(solver.instance(question).spawns());

  std::vector<StartWay> ways;
  auto const alone = [&](char const* name, std::uint64_t (*fib)(int)) {
    ways.push_back({name, 1, [=, &o] { return time_call(fib, n, o.cpus.front()); }});
  };
  alone("serial", fib::serial);
  alone("floor/descriptors", fib_by_descriptors);
  alone("floor/split-stack", fib_by_split_stack);
  for (int threads = 1; threads <= o.threads(); threads *= 2)
    ways.push_back({"nigh/fork-join", threads,
                    [=, &solver] { return solver.solve(question, Family::nigh, threads, 1); }});

  nigh::runtime one({.machine = &o.machine, .workers = 1});
  ways.push_back({"nigh/typed-task", 1, [&] {
                    Timed timed;
                    one.run([&] { timed = time_call(fib_by_typed_tasks, n, o.cpus.front()); });
                    return timed;
                  }});

  std::vector<Result> results;
  for (StartWay const& way : ways) results.push_back(start_result(way, n));
  nigh::platform::Progress progress(o.empty_repetitions * static_cast<int>(ways.size()));
  for (int repetition = -1; repetition < o.empty_repetitions; ++repetition)  // the first warms up
    for (std::size_t w = 0; w < ways.size(); ++w) {
      if (repetition >= 0) progress.step(ways[w].name);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      Timed const t = ways[w].run();
      results[w].verified =
          *results[w].verified && t.answer == solver.instance(question).expected();
      if (repetition >= 0) results[w].samples.push_back(t.seconds * 1e9 / spawns);
    }
  return results;
}

std::string describe_fib(std::vector<Result> const& results, TasksOptions const& o) {
  Table t;
  t.row({"", "threads", "median", "min", "max", "x serial", "x split-stack"});
  t.rule();
  auto const ratio = [](Result const& a, Result const& b) {
    std::vector<double> ratios;
    for (std::size_t n = 0; n < a.samples.size(); ++n)
      ratios.push_back(a.samples[n] / b.samples[n]);
    return fmt::format("{:.2f}", median_of(ratios));
  };
  constexpr std::size_t serial = 0, floor = 2;
  for (Result const& r : results) {
    Statistics const s = statistics_of(r.samples);
    t.row({r.variant, std::to_string(std::get<long>(r.params.at("threads"))),
           fmt::format("{:.2f}", s.median), fmt::format("{:.2f}", s.min),
           fmt::format("{:.2f}", s.max), ratio(r, results[serial]), ratio(r, results[floor])});
  }
  return fmt::format(
             "Fibonacci of {}, no cutoff: nanoseconds per spawn, all included; {} repetitions\n\n",
             std::get<long>(results.front().params.at("n")), o.empty_repetitions) +
         t.text();
}

}  // namespace bench
