// SPDX-License-Identifier: Apache-2.0
#pragma once
// Workers pinned to cpus, and tasks that run near their data.

#include <nigh/detail/cxx20.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <nigh/detail/export.hpp>
#include <nigh/detail/owned.hpp>
#include <nigh/detail/task_stack.hpp>
#include <nigh/schedule.hpp>
#include <nigh/steal_choice.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {

namespace tasks {
class Scheduler;
class WorkSource;
}  // namespace tasks
namespace detail {
struct runtime_access;
}

// May a worker whose domain has no tasks left take those of another domain?
enum class locality : std::uint8_t {
  prefer,  // yes: an even load comes before local access (paper: Wittmann and Hager 2009)
  strict,  // no: a domain's tasks run on its own workers only
};

// Where a task should run: the domain of its data, the cache that holds it, or anywhere.
class near {
 public:
  static constexpr int anywhere = -1;

  // In that queue of the runtime (see runtime_options::queue_level).
  static constexpr near at_queue(int queue, std::size_t bytes = 0) noexcept {
    return at_queue(queue, anywhere, bytes);
  }

  constexpr near() = default;
  constexpr explicit near(int domain, std::size_t bytes = 0) noexcept
      : bytes_(bytes), domain_(domain) {}
  // The domain that holds the memory at p, found when the task is spawned (see nigh::domain_of);
  // bytes is how much of it the task will touch, for the counters.
  constexpr explicit near(void const* p, std::size_t bytes = 0) noexcept
      : address_(p), bytes_(bytes) {}

  constexpr void const* address() const noexcept { return address_; }
  constexpr std::size_t bytes() const noexcept { return bytes_; }
  constexpr int domain() const noexcept { return domain_; }
  constexpr int queue() const noexcept { return queue_; }

 private:
  friend class tasks::Scheduler;
  static constexpr near at_queue(int queue, int domain, std::size_t bytes) noexcept {
    near where(domain, bytes);
    where.queue_ = queue;
    return where;
  }

  void const* address_ = nullptr;
  std::size_t bytes_ = 0;
  int domain_ = anywhere;
  int queue_ = anywhere;
};

struct runtime_options {
  topology const* machine = nullptr;     // null: this_host(). Must outlive the runtime
  int workers = 0;                       // 0: one for each allowed cpu, within a cgroup's quota
  cpu_order order = cpu_order::compact;  // which cpus they are pinned to
  level order_level = level::domain;     //
  std::vector<int> cpus = {};            // not empty: these instead, in this order
  locality mode = locality::prefer;
  // The workers that share a locality queue: those of a domain, or within one those of an L3, an L2
  // or a core. Where the machine has no such caches, the next larger level counts. Workers whose
  // queue is empty help those of their domain first. Tasks spawned near a domain are dealt out to
  // its queues; near::at_queue() names one.
  level queue_level = level::domain;
  std::size_t queue_capacity = 8192;  // tasks per locality queue; a power of two up to 2^32
  // Tasks that may wait in all queues together, 0: as many as fit. When a spawn reaches it, the
  // spawning thread first runs one task, chosen as an idle worker there would: the bound that made
  // the paper's submission order matter (257 with its compiler).
  std::size_t pending_limit = 0;

  // Forked tasks (fork_join, task_scope).
  std::size_t task_capacity = 8192;  // that may wait in one worker's task stack, 64 bytes each;
                                     // more run inline
  // Of each worker: reserved, not touched; from the system's least (16 KiB on Linux) to 2^46. Where
  // the system refuses so much, under a limit on a process's addresses, its default size.
  std::size_t thread_stack_bytes = std::size_t{64} << 20;
  victim_choice victims = victim_choice::hierarchical;
  chunk_choice chunks = chunk_choice::hierarchical;
  // The paper's cutoffs, and a count; both take time where tasks are private: with any of them a
  // fork costs some nanoseconds more. 0: no cutoff.
  int depth_cutoff = 0;      // tasks this deep below their root fork no more: they run inline
  int queue_cutoff = 0;      // forks run inline while so many tasks wait in the worker's stack
  bool count_tasks = false;  // worker_counters::forked

  // For loops whose call names none.
  schedule loops{schedule_kind::adaptive, 1};

  // The file for a record of the workers' events, for ui.perfetto.dev (docs/trace.md); also counts
  // tasks. Empty: the file that NIGH_TRACE names, if any.
  std::string trace_file = {};
};

// Counts of one worker's work since the runtime began or reset_counters(). "Local" is by the domain
// the task was spawned near to; tasks spawned anywhere count as run only.
struct worker_counters {
  int cpu = -1;
  int domain = -1;
  std::uint64_t run = 0;
  std::uint64_t local = 0;
  std::uint64_t remote = 0;
  std::uint64_t bytes_local = 0;
  std::uint64_t bytes_remote = 0;
  std::uint64_t parked = 0;                   // times it went to sleep
  std::vector<std::uint64_t> run_for_domain;  // [domain]: tasks spawned near that domain
  // Forked tasks. Those that a worker pops again itself are not counted one by one.
  std::uint64_t forked = 0;              // only with runtime_options::count_tasks
  std::uint64_t serialized = 0;          // run inline: stack full, or a cutoff
  std::uint64_t steals = 0;              // visits to others' stacks that brought tasks
  std::uint64_t stolen = 0;              // tasks they brought
  std::uint64_t failed_steals = 0;       // rounds of a search that found nothing
  std::vector<std::uint64_t> steals_at;  // [static_cast<int>(level)]: of steals, by distance
};

namespace detail {

// A closure in place, or on the heap when it is large or not trivially copyable.
struct task {
  static constexpr std::size_t inline_bytes = 40;

  using entry = void (*)(void* storage);

  entry call = nullptr;  // runs and destroys the closure in storage
  std::uint64_t bytes = 0;
  int domain = near::anywhere;
  bool is_resident = false;  // neither it nor what it spawns goes to another process
  alignas(8) std::byte storage[inline_bytes] = {};
};
static_assert(sizeof(task) == 64, "one cache line");

template <class F>
task make_task(F&& f) {
  using closure = std::decay_t<F>;
  task t;
  if constexpr (sizeof(closure) <= task::inline_bytes && alignof(closure) <= 8 &&
                std::is_trivially_copyable_v<closure>) {
    ::new (t.storage) closure(std::forward<F>(f));
    t.call = [](void* s) { (*std::launder(static_cast<closure*>(s)))(); };
  } else {
    auto* boxed = new closure(std::forward<F>(f));
    std::memcpy(t.storage, &boxed, sizeof boxed);
    t.call = [](void* s) {
      closure* c;
      std::memcpy(&c, s, sizeof c);
      owned<closure> const owner(c);
      (*c)();
    };
  }
  return t;
}

tasks::Scheduler& default_scheduler();

// The result of a function that another thread calls, or its exception: keep() there, then take()
// here, each once.
template <class R>
class kept_result {
 public:
  template <class F>
  void keep(F&& f) noexcept {
    try {
      if constexpr (std::is_void_v<R>)
        std::forward<F>(f)();
      else if constexpr (std::is_reference_v<R>)
        value_ = address_of(std::forward<F>(f)());
      else
        value_.emplace(std::forward<F>(f)());
    } catch (...) {
      exception_ = std::current_exception();
    }
  }
  void rethrow_exception() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }
  R take() {
    rethrow_exception();
    if constexpr (std::is_reference_v<R>)
      return static_cast<R>(*value_);
    else if constexpr (!std::is_void_v<R>)
      return std::move(*value_);
  }

 private:
  using pointer = std::add_pointer_t<std::remove_reference_t<R>>;
  using kept = std::conditional_t<
      std::is_void_v<R> || std::is_reference_v<R>, pointer,
      std::optional<std::conditional_t<std::is_void_v<R>, int, std::remove_cvref_t<R>>>>;
  static pointer address_of(auto&& referred) noexcept { return __builtin_addressof(referred); }

  kept value_{};
  std::exception_ptr exception_;
};

}  // namespace detail

// A pool of workers with one locality queue per domain, or per cache. Tasks may spawn tasks.
// Several runtimes may live at once. Memory for waiting tasks is bounded: 64 bytes times
// queue_capacity for each queue and 4 KiB for each worker; when a queue is full, spawn() runs the
// task in the calling thread. Closures of more than 40 bytes, or not trivially copyable, are kept
// on the heap.
//
// In a program that `nigh run` started, runtimes whose options name no cpus share the host with
// other programs: as long as there is work, they hold a lease of cpus, and only the workers on
// these take tasks. Other workers finish the tasks they have begun; their waiting tasks are taken
// from them. There is always one worker that may run (with locality::strict one in each domain), so
// tasks may wait for their children, and for anything in a blocking_scope, but must not count on
// running at the same time. With NIGH_COORDINATOR=off all workers run. docs/tasks.md, "Beside other
// programs".
//
// Belongs to the process that made it: after fork(), spawn(), run() and wait() in the child throw
// std::logic_error; scopes, loops and sorts of it run in the calling thread alone, and what invoke()
// forks on the default runtime, which is made anew in the child. The destructor frees some memory and
// touches no thread. A child forked from inside a task must not return from it.
class NIGH_API runtime {
 public:
  // Throws std::invalid_argument (naming the option) for options that cannot be met, and
  // std::system_error when threads cannot be started. Where the system refuses to pin a thread, the
  // thread runs unpinned and pinned() is false.
  explicit runtime(runtime_options options = {});
  // So many workers, all else as by default: runtime(2). 0: one for each allowed cpu.
  explicit runtime(int workers);
  // Waits for all tasks. An exception that no wait() has rethrown ends as a line on standard error.
  // One that exit() destroys while it is in use, as in one of its tasks, is left as it is.
  ~runtime();
  runtime(runtime&&) = delete;
  runtime& operator=(runtime&&) = delete;

  // Queues f() for a worker of the domain. Any thread may call it, tasks included.
  // std::out_of_range when `where` names a domain the machine does not have; f is not touched then.
  template <class F>
  void spawn(near where, F&& f) {
    near const there = resolved(where);
    submit(there, detail::make_task(std::forward<F>(f)));
  }
  template <class F>
  void spawn(F&& f) {
    submit(near{}, detail::make_task(std::forward<F>(f)));
  }

  // Blocks until every task has run, including those spawned meanwhile, then rethrows the first
  // exception that a task threw since the last wait(), if any. Not from inside a task (that task
  // would wait for itself): std::logic_error.
  void wait();

  // f() in a worker's thread (run) or in the calling thread (invoke). Both return its result, a
  // reference as a reference, after all tasks that it forked, and rethrow its exception. Both call
  // f once, where it is, without a copy.
  //
  // run() also waits for all queued tasks of the runtime, as wait() does, and if f throws nothing,
  // rethrows the first exception of those. Not from inside a task of this runtime:
  // std::logic_error, and f is not called.
  template <class F>
  std::invoke_result_t<F> run(F&& f) {
    check_may_wait();
    detail::kept_result<std::invoke_result_t<F>> result;
    spawn([&] { result.keep(std::forward<F>(f)); });
    try {
      wait();
    } catch (...) {
      result.rethrow_exception();
      throw;
    }
    return result.take();
  }

  // Tasks that f forks belong to this runtime: workers steal them, and the caller steals from
  // workers while it waits. In a task of this runtime, it just calls f. Threads that are no workers
  // do so as external threads, as many at once as there are slots for them (64); beyond that,
  // forked tasks run inline.
  template <class F>
  std::invoke_result_t<F> invoke(F&& f) {
    detail::external_thread const here(scheduler_);
    return std::forward<F>(f)();
  }

  int workers() const noexcept;
  // How many of them may run at the moment: all, unless nighd hands out cpus (`nigh run`).
  int workers_now() const;
  // Locality queues are numbered by domain. std::out_of_range for a queue that does not exist.
  int queues() const noexcept;
  int domain_of_queue(int queue) const;
  // for a domain without workers: the nearest's
  std::vector<int> const& queues_of(int domain) const;
  topology const& machine() const noexcept;
  bool pinned() const noexcept;  // every worker sits on its own cpu

  // Exact when no task is running; a recent state otherwise. A backup thread counts for its worker.
  std::vector<worker_counters> counters() const;
  // The same for all external threads together: cpu and domain are -1.
  worker_counters guest_counters() const;
  void reset_counters() noexcept;  // between two wait()s

 private:
  friend struct detail::runtime_access;
  runtime(runtime_options options, tasks::WorkSource& source);

  void check_may_wait() const;
  near resolved(near where) const;  // an address becomes its domain
  void submit(near where, detail::task t);

  tasks::Scheduler* const scheduler_;  // its own
};

// Options from the environment's NIGH_* variables (docs/tasks.md lists them), the rest from
// `otherwise`. std::invalid_argument names a variable that makes no sense.
NIGH_API runtime_options options_from_environment(runtime_options otherwise = {});

// The runtime for programs that make none: a worker for each allowed cpu, options from the
// environment. Made at first use, lives as long as the process.
NIGH_API runtime& default_runtime();
// Its options, where the environment says nothing. std::logic_error once it has been made.
NIGH_API void configure_default_runtime(runtime_options options);

// About the calling thread.
namespace this_worker {
// -1 when the caller is not a worker. The backup thread of worker w, which is in a blocking_scope,
// has the index workers() + w.
NIGH_API int index() noexcept;
NIGH_API int domain() noexcept;  // its worker's domain, or -1
NIGH_API int queue() noexcept;   // the locality queue it serves first, or -1
}  // namespace this_worker

}  // namespace nigh
