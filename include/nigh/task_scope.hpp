// SPDX-License-Identifier: Apache-2.0
#pragma once
// task_scope: spawns any number of tasks, and ends after them.

#include <nigh/detail/cxx20.hpp>

#include <cstdint>
#include <exception>
#include <new>
#include <nigh/detail/export.hpp>
#include <nigh/detail/owned.hpp>
#include <nigh/detail/task_stack.hpp>
#include <nigh/isolate.hpp>
#include <nigh/runtime.hpp>
#include <nigh/stop_token.hpp>
#include <nigh/task_handle.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace nigh {

namespace detail {
class pipeline_host;
}

// What happens to a scope's other tasks when one throws?
enum class on_exception : std::uint8_t {
  finish,  // they run
  cancel,  // those not begun are dropped; in running ones stop_requested() is true
};

struct task_scope_options {
  runtime* where = nullptr;  // null: the calling worker's, or in any other thread the default one
  on_exception rule = on_exception::finish;
  stop_token parent = {};  // when it is asked to stop, so is this scope
};

// One thread makes, awaits and destroys it, and nested scopes end in reverse order, as local
// variables do. Any task of the scope may spawn into it, from any thread. A task is done when its
// function has returned and all tasks that it spawned are done.
//
// A spawned function is kept in the spawning thread's task stack: in place when it has at most 40
// bytes and moves without throwing, otherwise through one heap allocation. When the stack is full,
// or the program is out of thread slots, spawn() calls it at once; it throws only what the copy or
// the allocation throws. Tasks have no priorities: newest first in the spawning thread, oldest
// first for thieves.
class NIGH_API task_scope {
 public:
  task_scope() : stack_(detail::this_stack), base_(stack_->top) {
    if (stack_ == &detail::no_stack) [[unlikely]]
      enter(nullptr);
  }
  explicit task_scope(task_scope_options options);
  explicit task_scope(runtime& where) : task_scope(task_scope_options{.where = &where}) {}

  // Waits. Rethrows the first exception of a task that no wait() or get() has rethrown, unless
  // another exception destroys the scope.
  ~task_scope() noexcept(false) {
    if (detail::this_stack != stack_) [[unlikely]]
      refuse_to_end();
    finish();
    if (before_ != nullptr || failed_.load(sync::relaxed)) [[unlikely]]
      leave();
    // Volatile: otherwise the compiler drops a store to an object whose life ends.
    const_cast<detail::task_stack* volatile&>(stack_) = &detail::ended_stack;
  }
  task_scope(task_scope&&) = delete;
  task_scope& operator=(task_scope&&) = delete;

  // f() takes no argument; its result is ignored.
  template <class F>
  void spawn(F&& f);

  // The same through the locality queue of the data's domain; see runtime::spawn. The queue keeps
  // 32 bytes of f, if it is trivially copyable; otherwise f is allocated. In an isolated region
  // (isolate.hpp) it is spawned as above, and `where` is only checked.
  template <class F>
  void spawn(near where, F&& f);

  // The same after other tasks of this scope: f() is called once all of them have ended, by the
  // thread in which the last one does or by another one. It is dropped if one of them failed or was
  // dropped. A task has ended when its function has returned and all tasks that it spawned have
  // ended; what it spawned after others counts for the last of these. There are no cycles, because a
  // handle is of a task that exists. One allocation for each task, another one if the number of
  // predecessors is known at run time; one atomic operation for each predecessor when it is made,
  // and one when the predecessor ends. std::invalid_argument for a handle without a task and for a
  // task of another scope, std::bad_alloc; f is not called then.
  template <std::size_t N, class F>
  task_handle<> spawn(predecessors<N> const& before, F&& f) {
    return make_task<void>(nullptr, before, std::forward<F>(f));
  }
  template <std::size_t N, class F>
  task_handle<> spawn(near where, predecessors<N> const& before, F&& f) {
    return make_task<void>(&where, before, std::forward<F>(f));
  }

  // A task with a result, which its handle's get() returns. The same otherwise.
  template <class F>
  auto async(F&& f) {
    return async(after(), std::forward<F>(f));
  }
  template <class F>
  auto async(near where, F&& f) {
    return async(where, after(), std::forward<F>(f));
  }
  template <std::size_t N, class F>
  auto async(predecessors<N> const& before, F&& f) {
    return make_task<result_of<F>>(nullptr, before, std::forward<F>(f));
  }
  template <std::size_t N, class F>
  auto async(near where, predecessors<N> const& before, F&& f) {
    return make_task<result_of<F>>(&where, before, std::forward<F>(f));
  }

  // Runs and awaits all tasks spawned so far, then rethrows the first exception since the last
  // wait(): of the tasks without a handle, or else of those with one whose get() has not rethrown
  // it. The scope can be used again afterwards; but once it has been asked to stop, as by an
  // exception under `cancel`, further tasks are dropped, too. std::logic_error in another thread
  // than the one that made the scope, so in tasks that others run; and in one of its own tasks that
  // has a handle or was queued near data, which would wait for itself. A plain one that the scope's
  // thread runs does not wait for itself.
  void wait() {
    if (detail::this_stack != stack_) [[unlikely]]
      refuse_to_wait();
    finish();
    if (failed_.load(sync::relaxed)) [[unlikely]]
      rethrow();
  }

  // Tasks that have not begun are dropped from now on, running ones can ask. Any thread may call
  // it.
  void request_stop() noexcept { stop_.requested.store(true, sync::relaxed); }
  bool stop_requested() const noexcept { return stop_.is_requested(); }
  stop_token token() const noexcept { return stop_token(&stop_); }

 private:
  friend struct detail::task_record;
  friend struct detail::ready_task;
  friend class detail::pipeline_host;
  template <class C>
  struct child;
  template <class C>
  struct near_child;
  template <class F>
  using result_of = std::decay_t<std::invoke_result_t<std::decay_t<F>&>>;

  // False: there is no room in the calling thread's stack, or it is no thread of the runtime.
  template <class F>
  bool put(F&& f);
  template <class T, std::size_t N, class F>
  task_handle<T> make_task(near const* where, predecessors<N> const& before, F&& f);
  // All but the function are there; makes it ready if nothing keeps it waiting.
  void start(detail::task_record& task, task_handle<> const* before, detail::task_edge* edges,
             std::size_t count);
  // Refuses handles that start() could not take.
  void check(task_handle<> const* before, std::size_t count) const;
  detail::task_record* end(detail::task_record& task, detail::task_record* todo) noexcept;
  void run_ready(detail::task_record* task) noexcept;
  void await(detail::task_record& task);
  void keep_failed(detail::task_record& task) noexcept;
  std::exception_ptr take_first_failure() noexcept;

  void enter(runtime* where);
  void finish() noexcept {
    while (stack_->top > base_) {
      auto* const slot = stack_->top - 1;
      if (stack_->wanted.load(sync::relaxed) || !stack_->begin_taking(slot)) [[unlikely]]
        detail::finish_top(*stack_);
      else
        slot->call(*slot, stack_);
    }
    if (near_pending_.load(sync::acquire) != 0) [[unlikely]]  // (stack.E)
      await_near();
  }
  template <class C>
  void run(C& call) noexcept {
    if constexpr (!std::is_same_v<C, detail::ready_task>)  // that one has successors to tell
      if (stop_.is_requested()) return;
    try {
      static_cast<void>(call());
    } catch (...) {
      keep_exception();
    }
  }
  detail::task_stack* stack_of_spawner() const noexcept;  // null: not a thread of our runtime
  void await_near() noexcept;
  void begin_near() noexcept { near_pending_.fetch_add(1, sync::relaxed); }
  void end_near(detail::task_slot* base) noexcept;
  // Counts the queued tasks, and those with a handle, that run on the scope's own thread: these
  // must not wait for it.
  void count_own_near(int change) noexcept {
    if (detail::this_stack == stack_ && stack_ != &detail::no_stack) own_near_ += change;
  }
  void submit_near(near where, detail::task t);
  near resolved(near where) const;
  tasks::Scheduler& host() const;
  void keep_exception() noexcept;
  void rethrow();
  void leave();
  [[noreturn]] void refuse_to_wait() const;
  [[noreturn]] static void refuse_to_end() noexcept;

  detail::task_stack* stack_;
  detail::task_slot* base_;  // where its tasks begin
  // For an external thread: the stack it had before it took a thread slot for the scope's life.
  // Without a free slot: the runtime that its tasks near data go to.
  detail::task_stack* before_ = nullptr;
  runtime* host_;
  detail::stop_state stop_;
  sync::atomic<std::uint32_t> near_pending_{0};
  int own_near_ = 0;
  sync::atomic<bool> failed_{false};  // a task has thrown
  sync::atomic<bool> threw_{false};   // one without a handle: exception_ is set, or about to be
  on_exception rule_ = on_exception::finish;
  // Exceptions in flight when it was made: tasks also run in destructors, while others unwind
  // below.
  int const in_flight_ = std::uncaught_exceptions();
  union {
    std::exception_ptr exception_;
  };
  sync::atomic<detail::task_record*> failed_tasks_{nullptr};  // with handles, newest first
};

namespace detail {

// Out of line for functions that do not fit.
template <class F>
struct boxed {
  owned<F> f;
  explicit boxed(F&& g) : f(new F(std::move(g))) {}
  explicit boxed(F const& g) : f(new F(g)) {}
  void operator()() { static_cast<void>((*f)()); }
};
template <class F>
inline constexpr bool fits_slot = sizeof(F) <= task_slot::closure_bytes && alignof(F) <= 8 &&
                                  std::is_nothrow_move_constructible_v<F>;
template <class F>
using kept = std::conditional_t<fits_slot<F>, F, boxed<F>>;

}  // namespace detail

template <class C>
struct task_scope::child {
  // A task_slot::entry.
  static void run(detail::task_slot& slot, detail::task_stack* popping) noexcept {
    auto& scope = *static_cast<task_scope*>(slot.object);
    auto* const stored = std::launder(reinterpret_cast<C*>(slot.closure));
    C call(std::move(*stored));  // the task may put another one into its slot
    stored->~C();
    if (popping != nullptr) popping->end_taking(&slot);
    scope.run(call);
  }
  // The same where a runtime keeps depths: the owner pops past the code that does.
  static void run_at_depth(detail::task_slot& slot, detail::task_stack* popping) noexcept {
    detail::at_depth const here(slot.depth);
    run(slot, popping);
  }
};

// The closure is destroyed before the scope may end.
template <class C>
struct task_scope::near_child {
  static constexpr bool trivial = std::is_trivially_copyable_v<C>;
  task_scope* scope;
  std::conditional_t<trivial, C, std::optional<C>> call;
  void operator()() noexcept {
    detail::task_slot* const base = detail::this_stack->top;
    scope->count_own_near(+1);
    if constexpr (trivial) {
      scope->run(call);
    } else {
      scope->run(*call);
      call.reset();
    }
    scope->end_near(base);
  }
};

template <class F>
bool task_scope::put(F&& f) {
  using call = detail::kept<std::decay_t<F>>;
  auto* stack = detail::this_stack;
  if (stack != stack_) [[unlikely]] {
    stack = stack_of_spawner();
    if (stack == nullptr) return false;
  } else if (stack->top < base_) [[unlikely]] {
    base_ = stack->top;  // an outer scope has waited meanwhile, and taken more tasks off
  }
  auto const push = [&](detail::task_stack& to, detail::task_slot::entry entry) {
    if constexpr (std::is_trivially_constructible_v<call, F&&>) {
      ::new (static_cast<void*>(to.top->closure)) call(std::forward<F>(f));
      to.top->object = this;
      to.push(entry);
    } else {
      detail::push_constructed(to, this, entry,
                               [&](void* slot) { ::new (slot) call(std::forward<F>(f)); });
    }
  };
  if (stack->top < stack->limit) [[likely]] {
    push(*stack, &child<call>::run);
    return true;
  }
  detail::slow_push const slow(detail::outsiders::stay);
  if (slow.room() == nullptr) return false;
  push(*slow.room(), &child<call>::run_at_depth);
  return true;
}

template <class F>
void task_scope::spawn(F&& f) {
  using call = detail::kept<std::decay_t<F>>;
  // In the slot nothing may throw, which a constructor of a copy may.
  if constexpr (!std::is_same_v<F, call> && !std::is_trivially_copyable_v<call>) {
    spawn(call(std::forward<F>(f)));
  } else {
    if (put(std::forward<F>(f))) [[likely]]
      return;
    bool const is_foreign = detail::this_stack != stack_ && stack_of_spawner() == nullptr;
    if (is_foreign || !detail::may_run_at_once()) [[unlikely]]
      return spawn(near{}, std::forward<F>(f));
    call now(std::forward<F>(f));
    run(now);
  }
}

template <class F>
void task_scope::spawn(near where, F&& f) {
  near const there = resolved(where);
  if (detail::in_isolated_region()) [[unlikely]]
    return spawn(std::forward<F>(f));
  auto t = detail::make_task(near_child<std::decay_t<F>>{this, std::forward<F>(f)});
  begin_near();
  submit_near(there, t);
}

template <class T, std::size_t N, class F>
task_handle<T> task_scope::make_task(near const* where, predecessors<N> const& before, F&& f) {
  using task = detail::graph_task<T, std::decay_t<F>, N>;
  auto const& tasks = before.tasks;
  check(tasks.data(), tasks.size());
  near const there = where != nullptr ? resolved(*where) : near{};
  auto* const made = new task(*this, tasks.size(), std::forward<F>(f));
  made->is_near = where != nullptr;
  made->where = there;
  made->users.retain();
  task_handle<T> const handle(made);
  start(*made, tasks.data(), made->edges.all.data(), tasks.size());
  return handle;
}

}  // namespace nigh
