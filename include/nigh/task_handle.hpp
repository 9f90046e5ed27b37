// SPDX-License-Identifier: Apache-2.0
#pragma once
// task_handle: a task of a task_scope that others wait for, or come after.

#include <nigh/detail/cxx20.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <nigh/detail/export.hpp>
#include <nigh/detail/task_edges.hpp>
#include <nigh/runtime.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {

class task_scope;
template <class T = void>
class task_handle;

enum class task_status : std::uint8_t {
  unfinished,  // it waits, or runs
  succeeded,   //
  failed,      // its function threw
  dropped,     // it never ran: its scope was asked to stop, or a predecessor failed or was dropped
};

// get() throws it for a task that was dropped because its scope was asked to stop.
class NIGH_API task_dropped : public std::exception {
 public:
  char const* what() const noexcept override;
};

namespace detail {

struct task_record {
  // Calls its function and keeps the result, or only destroys the function; it may throw.
  using entry = void (*)(task_record&, bool calls);

  task_record(task_scope& scope_, entry run_, void (*destroy_)(task_record&)) noexcept
      : scope(&scope_), run(run_), destroy(destroy_) {}
  task_record(task_record&&) = delete;
  task_record& operator=(task_record&&) = delete;

  bool is_done() const noexcept { return unfinished.load(sync::acquire) == 0; }  // (stack.E)
  NIGH_API void await();
  NIGH_API void rethrow();  // if it failed or was dropped
  NIGH_API void release() noexcept;

  task_scope* const scope;
  entry const run;
  void (*const destroy)(task_record&);  // deletes the whole object
  arrivals predecessors;
  successor_list successors;
  use_count users{1};                         // handles, and the scope until it has ended
  sync::atomic<std::uint32_t> unfinished{1};  // 0: the words below are as they stay
  sync::atomic<bool> is_doomed{false};        // `cause` is set, or about to be
  sync::atomic<bool> was_rethrown{false};     // by get()
  task_status status = task_status::unfinished;
  bool is_near = false;  // `where` says in which queue it waits
  near where;
  std::exception_ptr exception;
  task_record* cause = nullptr;  // the predecessor that keeps it from running, or the latter's
  task_record* next = nullptr;   // among tasks that are ready, or have just been dropped
  task_record* next_failed = nullptr;  // among those of its scope
};

template <class T>
struct task_result : task_record {
  using task_record::task_record;
  std::optional<T> value;
};
template <>
struct task_result<void> : task_record {
  using task_record::task_record;
};

// N edges from predecessors.
inline constexpr std::size_t any_number = static_cast<std::size_t>(-1);
template <std::size_t N>
struct task_edges {
  explicit task_edges(std::size_t) noexcept {}
  std::array<task_edge, N> all;
};
template <>
struct task_edges<any_number> {
  explicit task_edges(std::size_t count) : all(count) {}
  std::vector<task_edge> all;
};

template <class T, class F, std::size_t N>
struct graph_task final : task_result<T> {
  template <class G>
  graph_task(task_scope& in, std::size_t after, G&& g)
      : task_result<T>(in, &run_this, &destroy_this),
        function(std::in_place, std::forward<G>(g)),
        edges(after) {}

  // The function is destroyed before others see that the task has ended.
  static void run_this(task_record& record, bool calls) {
    struct reset_at_end {
      std::optional<F>& f;
      ~reset_at_end() { f.reset(); }
    };
    auto& self = static_cast<graph_task&>(record);
    reset_at_end const reset{self.function};
    if (!calls) return;
    if constexpr (std::is_void_v<T>)
      static_cast<void>((*self.function)());
    else
      self.value.emplace((*self.function)());
  }
  static void destroy_this(task_record& record) { delete static_cast<graph_task*>(&record); }

  std::optional<F> function;
  task_edges<N> edges;
};

// Stands for a task in a task stack or a queue, from when it is ready.
struct ready_task {
  task_record* record;
  NIGH_API void operator()() const noexcept;
};

}  // namespace detail

// Any task, whatever its result: every task_handle<T> is one. Handles are copied and destroyed by
// any thread, also after their scope. Copies stand for the same task; a call costs what is said
// there, a copy one atomic increment. std::logic_error by all but valid() for a handle without a
// task.
template <>
class task_handle<void> {
 public:
  task_handle() = default;
  task_handle(task_handle const& other) noexcept : record_(other.record_) {
    if (record_ != nullptr) record_->users.retain();
  }
  task_handle(task_handle&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  task_handle& operator=(task_handle other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~task_handle() {
    if (record_ != nullptr) record_->release();
  }

  bool valid() const noexcept { return record_ != nullptr; }
  // Has it ended? A load.
  bool done() const { return record().is_done(); }
  task_status status() const { return done() ? record().status : task_status::unfinished; }

  // Returns when the task has ended. Until then the thread runs other tasks: those of the scope,
  // and what it finds elsewhere, as in task_scope::wait(). For a task that has not ended, only the
  // thread that made the scope may call it, and not from a task of async() or with after(): another
  // thread or such a task might wait for a task that its own stack keeps from going on. It gets
  // std::logic_error. A task that needs another one's result names it in after().
  void wait() const {
    if (!done()) record().await();
  }
  // The same; then rethrows the exception of the task, or that of the predecessor that kept it from
  // running; task_dropped if it was dropped by a stop. The scope does not rethrow it again.
  void get() const {
    wait();
    if (record().status != task_status::succeeded) record().rethrow();
  }

 protected:
  friend class task_scope;
  explicit task_handle(detail::task_record* record) noexcept
      : record_(record) {}  // takes over one use
  NIGH_API detail::task_record& record() const;

  detail::task_record* record_ = nullptr;
};

template <class T>
class task_handle : public task_handle<void> {
 public:
  task_handle() = default;

  // As above, and returns the result: a reference that all copies of the handle share, valid as
  // long as one of them lives. Tasks that come after this one may read it at the same time; a
  // single user may move from it.
  T& get() const {
    task_handle<void>::get();
    return *static_cast<detail::task_result<T>&>(*record_).value;
  }

 private:
  friend class task_scope;
  using task_handle<void>::task_handle;
};

// The tasks that a task comes after. Made by after().
template <std::size_t N>
struct predecessors {
  std::array<task_handle<>, N> tasks;
};
template <>
struct predecessors<detail::any_number> {
  std::vector<task_handle<>> tasks;
};

// after(a, b) or, for a number known at run time, after(handles) with a range of handles. None: the
// task comes after nothing. std::bad_alloc for a range.
template <std::derived_from<task_handle<>>... Handle>
predecessors<sizeof...(Handle)> after(Handle const&... tasks) {
  return {{task_handle<>(tasks)...}};
}
template <class R>
  requires std::derived_from<std::remove_cvref_t<decltype(*std::begin(std::declval<R const&>()))>,
                             task_handle<>>
predecessors<detail::any_number> after(R const& tasks) {
  predecessors<detail::any_number> all;
  for (auto const& one : tasks) all.tasks.push_back(one);
  return all;
}

}  // namespace nigh
