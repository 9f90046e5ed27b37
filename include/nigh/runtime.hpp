// SPDX-License-Identifier: Apache-2.0
#pragma once
// Workers pinned to cpus, and tasks that run near their data.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <nigh/detail/export.hpp>
#include <nigh/topology.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {

// May a worker whose domain has no tasks left take those of another domain?
enum class locality : std::uint8_t {
  prefer,  // yes: an even load comes before local access (paper: Wittmann and Hager 2009)
  strict,  // no: a domain's tasks run on its own workers only
};

// Where a task should run: the domain of its data, or anywhere.
class near {
 public:
  static constexpr int anywhere = -1;

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

 private:
  void const* address_ = nullptr;
  std::size_t bytes_ = 0;
  int domain_ = anywhere;
};

struct runtime_options {
  topology const* machine = nullptr;     // null: this_host(). Must outlive the runtime
  int workers = 0;                       // 0: one for each allowed cpu
  cpu_order order = cpu_order::compact;  // which cpus they are pinned to
  level order_level = level::domain;     //
  locality mode = locality::prefer;
  std::size_t queue_capacity = 8192;  // tasks per locality queue; a power of two
  // Tasks that may wait in all queues together, 0: as many as fit. When a spawn reaches it, the
  // spawning thread runs one task first, chosen as an idle worker there would: the bound that made
  // the paper's submission order matter (257 with its compiler).
  std::size_t pending_limit = 0;
};

// What one worker has done since the runtime began or reset_counters(). "Local" is by the domain
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
};

namespace detail {

// A closure in place, or on the heap when it is large or not trivially copyable.
struct task {
  static constexpr std::size_t inline_bytes = 40;

  using entry = void (*)(void* storage);

  entry call = nullptr;  // runs and destroys the closure in storage
  std::uint64_t bytes = 0;
  int domain = near::anywhere;
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
      std::unique_ptr<closure> const owner(c);
      (*c)();
    };
  }
  return t;
}

class scheduler;

}  // namespace detail

// A pool of workers with one locality queue per domain. Tasks may spawn tasks. Several runtimes may
// live at once. Memory for waiting tasks is bounded: 64 bytes times queue_capacity for each domain
// and 4 KiB for each worker; when a queue is full, spawn() runs the task in the calling thread.
// Closures of more than 40 bytes, or not trivially copyable, are kept on the heap.
class NIGH_API runtime {
 public:
  // Throws std::invalid_argument (naming the option) for options that cannot be met, and
  // std::system_error when threads cannot be started. Where the system refuses to pin a thread, it
  // runs unpinned and pinned() is false.
  explicit runtime(runtime_options options = {});
  ~runtime();  // waits for all tasks
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

  // Blocks until every task has run, those spawned meanwhile included, then rethrows the first
  // exception that a task threw since the last wait(), if any. Not from inside a task (that task
  // would wait for itself): std::logic_error.
  void wait();

  // Runs f() as a task on a worker, and waits for it and for all it spawned, as wait() does.
  template <class F>
  void run(F&& f) {
    spawn(std::forward<F>(f));
    wait();
  }

  int workers() const noexcept;
  topology const& machine() const noexcept;
  bool pinned() const noexcept;  // every worker sits on its own cpu

  // Exact when no task is running; a recent state otherwise.
  std::vector<worker_counters> counters() const;
  void reset_counters() noexcept;  // between two wait()s

 private:
  near resolved(near where) const;  // an address becomes its domain
  void submit(near where, detail::task t);

  std::unique_ptr<detail::scheduler> scheduler_;
};

// About the calling thread.
namespace this_worker {
NIGH_API int index() noexcept;   // -1 when the caller is not a worker
NIGH_API int domain() noexcept;  // its worker's domain, or -1
}  // namespace this_worker

}  // namespace nigh
