// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tasks across hosts: the same program runs as several ranks, as a rule one on each host, and a
// rank's workers may take tasks that another rank's workers have not begun.
//
//   long fib(int n) {
//     if (n < 2) return n;
//     long left;
//     nigh::cluster::task_scope scope;
//     scope.spawn<fib>(left, n - 1);
//     long const right = fib(n - 2);
//     scope.wait();
//     return left + right;
//   }
//   int main(int argc, char** argv) {
//     nigh::cluster::session here(argc, argv);
//     long const f = nigh::cluster::run<fib>(30);  // on every rank
//   }
//
// Link the program with the library for the MPI that starts it: nigh_ranks_openmpi, nigh_ranks_mpich,
// or nigh_ranks_openmpi5, whose ranks go on without a lost one. docs/cluster.md

#include <nigh/detail/cxx20.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <nigh/detail/cluster_function.hpp>
#include <nigh/detail/cluster_pack.hpp>
#include <nigh/detail/export.hpp>
#include <nigh/detail/task_stack.hpp>
#include <nigh/runtime.hpp>
#include <nigh/steal_choice.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh::cluster {

class Agent;
class Transport;

// Where a task should run: a rank. Other ranks may take it from there.
class near {
 public:
  constexpr explicit near(int rank) noexcept : rank_(rank) {}
  constexpr int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

// A task that ran on another rank threw; what() is what its exception said.
class NIGH_API remote_error : public std::runtime_error {
 public:
  remote_error(std::string const& what, int rank) : std::runtime_error(what), rank_(rank) {}
  int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

// The same on all ranks, except `workers`.
struct session_options {
  // For each rank's workers. Unless it names cpus, ranks that may use the same cpus of a host share
  // them out among themselves.
  runtime_options workers = {};
  victim_choice victims = victim_choice::hierarchical;  // among ranks
  // After a round of requests in vain: ask a few ranks once more, and sleep until they send tasks.
  // The text "lifelines" for victims means this, after asking at random.
  bool lifelines = false;
  chunk_choice chunks = chunk_choice::hierarchical;
  std::size_t fixed_chunk = 1;        // tasks at a time where that is a fixed number; at most 32
  std::size_t queue_capacity = 1024;  // tasks placed at one other rank that are not done yet; a
                                      // task beyond that runs where it is spawned
  // On rank 0: a file that names a host and its network switch on each line, for launchers that do
  // not tell (Slurm's may). Ranks at the same switch ask each other first.
  std::string switches = {};
  bool shared_window = true;  // ranks of one host take tasks from each other in shared memory
  // The program's task functions have no side effects, so that a task that is lost with its rank
  // may be run again. Where the MPI library lets ranks go on after a loss (Open MPI 5), they do,
  // without a shared window; not in programs with free tasks. When rank 0 is lost another rank
  // begins the root task anew, with its own arguments of run(). With other libraries rank 0 says
  // that all will end.
  bool supervised = false;
  // So many of the highest ranks wait: they take part in every run, but their workers sleep, until
  // a rank that works is lost, or session::resize() says so.
  int spares = 0;
};

// Set choices from words, as NIGH_CLUSTER_VICTIMS and NIGH_CLUSTER_CHUNKS have them: "random",
// "ring", "hierarchical", "lifelines"; "one", "fixed,4", "half", "hierarchical", "hierarchical,4".
// False: the word is unknown, and nothing is changed.
NIGH_API bool set_victims(session_options& options, std::string_view words);
NIGH_API bool set_chunks(session_options& options, std::string_view words);

// Counts of a rank's work for others, and of theirs for it.
struct rank_counters {
  std::uint64_t steals_asked = 0;   // requests sent
  std::uint64_t steals_failed = 0;  // of these, answered with nothing
  std::uint64_t tasks_stolen = 0;   // that came here
  std::uint64_t tasks_given = 0;    // that went elsewhere
  std::uint64_t tasks_placed = 0;   // put at other ranks, by near()
  std::uint64_t placed_inline = 0;  // meant for other ranks, run here: too many were on their way
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t window_steals = 0;    // visits to ranks of this host that brought tasks
  std::uint64_t window_tasks = 0;     // of tasks_stolen, those that came this way
  std::uint64_t tasks_run_again = 0;  // supervised tasks whose rank was lost
  std::uint64_t begun_again = 0;      // of these, and of lost root tasks: begun by a worker here
  std::uint64_t ranks_lost = 0;       // that this rank knows of, while tasks are supervised
};

// From construction to destruction, both collective, the program is one of several ranks. One at a
// time. It starts MPI unless the program has (then with MPI_THREAD_SERIALIZED, or FUNNELED), and
// ends it if it started it and no tasks are supervised. In a child of fork() it is of no use: run()
// throws std::logic_error, and its destructor does nothing. When ranks do not fit together, or one of
// them has impossible settings, it says so in one line and ends the process, code 2. Meanwhile
// threads of the program call MPI only inside an mpi_section, and its destructor waits for the end of
// those of other threads. std::logic_error: there is a session already, or MPI has ended.
class NIGH_API session {
 public:
  session(int& argc, char**& argv, session_options options = {});
  explicit session(std::unique_ptr<Transport> transport, session_options options = {});
  ~session();
  session(session&&) = delete;
  session& operator=(session&&) = delete;

  int rank() const noexcept;
  int ranks() const noexcept;
  nigh::runtime& workers() noexcept;  // this rank's; others take only tasks of a run from them

  // Grows or shrinks the session: the lowest `ranks` of those that are left work, all others are
  // spare. A rank that becomes spare ends the tasks that it has begun, and passes on all others.
  // Any rank may call this, or several, on any thread, inside a task or not; of calls at the same
  // time, one holds for all. It takes effect within the run that this rank is in, or else at the
  // beginning of its next. std::out_of_range: not 1 to ranks().
  void resize(int ranks);
  // The ranks that work, in order, as far as this rank knows. On any thread; it waits while another
  // one is in an mpi_section.
  std::vector<int> working() const;

  // The same.
  rank_counters counters() const;

 private:
  std::unique_ptr<Agent> agent_;
};

// While one lives, its thread may call MPI, and nigh does not. Sections of a thread nest. Inside,
// run() and calls about checkpoints throw std::logic_error, and a task that waits for tasks of other
// ranks would wait for ever.
class NIGH_API mpi_section {
 public:
  mpi_section();
  ~mpi_section();
  mpi_section(mpi_section&&) = delete;
  mpi_section& operator=(mpi_section&&) = delete;
};

namespace detail {

inline constexpr std::size_t largest_input = std::size_t{1} << 30;  // bytes of a task's arguments

[[noreturn]] NIGH_API void refuse_input(function const& f, std::size_t input_bytes);
[[noreturn]] NIGH_API void refuse_function(function const& f);

// Checks that are possible only at run time.
template <auto F>
void check(arguments_of<F> const& arguments) {
  auto const& f = function_of<F>();
  if (f.is_late) [[unlikely]]
    refuse_function(f);
  if constexpr (has_rows<arguments_of<F>>)
    if (packed_size_of(arguments) > largest_input) [[unlikely]]
      refuse_input(f, packed_size_of(arguments));
}

template <auto F>
bytes packed(arguments_of<F> const& arguments) {
  bytes input(packed_size_of(arguments));
  pack_all(arguments, input.data());
  return input;
}

// A task that was put at another rank, until its result is here.
struct placed {
  function const* what;
  task_scope* scope;
  void* out;
  void (*store)(void* out, byte_view output);
};
// False: that is this rank, or too many are on their way there. The caller runs the task.
NIGH_API bool place(near where, placed const& task, byte_view input);
NIGH_API void end_placed(placed const& task, outcome const& what) noexcept;

NIGH_API bytes run_root(function const& f, bytes input);

}  // namespace detail

// Spawns tasks that any rank may run, and ends after them. As with nigh::task_scope, one thread
// makes, awaits and destroys it, and nested scopes end in reverse order, as local variables do; any
// task of the scope may spawn into it, on the rank where it was made. In threads that are no
// workers of a session, functions are called at once.
//
// Arguments are copied when a task is spawned, and travel with it: trivially copyable values,
// strings, and vectors of such values; a parameter of type std::span<T const> or std::string_view gets a
// view of a copy. The result is in `out` after wait(). A spawn costs as much as a fork; with more
// than 24 bytes of arguments, one heap allocation more. When the task stack is full the function is
// called at once. std::length_error for arguments of more than 1 GiB.
class NIGH_API task_scope {
 public:
  task_scope() noexcept : stack_(nigh::detail::this_stack), base_(stack_->top) {}

  // Waits. Rethrows the first exception that no wait() has rethrown, unless another exception
  // destroys the scope.
  ~task_scope() noexcept(false) {
    finish();
    if (failed_.load(sync::relaxed)) [[unlikely]]
      leave();
  }
  task_scope(task_scope&&) = delete;
  task_scope& operator=(task_scope&&) = delete;

  // The function must be a template argument, so that every rank knows it.
  template <auto F, class... A>
    requires std::is_void_v<detail::result_of<F>>
  void spawn(A&&... arguments) {
    push<F>(nullptr, detail::keep<F>(std::forward<A>(arguments)...));
  }
  template <auto F, class... A>
    requires(!std::is_void_v<detail::result_of<F>>)
  void spawn(detail::result_of<F>& out, A&&... arguments) {
    push<F>(&out, detail::keep<F>(std::forward<A>(arguments)...));
  }
  // The same at a rank; other ranks may take it from there. Runs here when too many are on their
  // way to that rank (session_options::queue_capacity). std::out_of_range: there is no such rank.
  template <auto F, class... A>
    requires std::is_void_v<detail::result_of<F>>
  void spawn(near where, A&&... arguments) {
    place<F>(where, nullptr, detail::keep<F>(std::forward<A>(arguments)...));
  }
  template <auto F, class... A>
    requires(!std::is_void_v<detail::result_of<F>>)
  void spawn(near where, detail::result_of<F>& out, A&&... arguments) {
    place<F>(where, &out, detail::keep<F>(std::forward<A>(arguments)...));
  }

  // Runs and awaits all tasks spawned so far, then rethrows the first exception since the last
  // wait(): a remote_error, if it was thrown on another rank.
  void wait() {
    finish();
    if (failed_.load(sync::relaxed)) [[unlikely]]
      rethrow();
  }

 private:
  friend void detail::keep_exception(task_scope* scope, std::exception_ptr e) noexcept;
  friend void detail::end_placed(detail::placed const& task, detail::outcome const& what) noexcept;

  template <auto F>
  using pointer = std::add_pointer_t<detail::result_of<F>>;

  template <auto F>
  void push(pointer<F> out, detail::arguments_of<F>&& arguments);
  template <auto F>
  void place(near where, pointer<F> out, detail::arguments_of<F>&& arguments);

  void finish() noexcept {
    while (stack_->top > base_) {
      auto* const slot = stack_->top - 1;
      if (stack_->wanted.load(sync::relaxed) || !stack_->begin_taking(slot)) [[unlikely]]
        nigh::detail::finish_top(*stack_);
      else
        slot->call(*slot, stack_);
    }
    if (placed_.load(sync::acquire) != 0) [[unlikely]]  // (stack.E)
      await_placed();
  }
  nigh::detail::task_stack* stack_of_spawner() const noexcept;  // null: not a thread of our runtime
  void await_placed() noexcept;
  void begin_placed() noexcept { placed_.fetch_add(1, sync::relaxed); }
  void end_placed() noexcept;
  void keep(std::exception_ptr e) noexcept;
  [[noreturn]] void rethrow();
  void leave();

  nigh::detail::task_stack* const stack_;
  nigh::detail::task_slot* base_;  // where its tasks begin
  sync::atomic<std::uint32_t> placed_{0};
  sync::atomic<bool> failed_{false};  // exception_ is set, or about to be
  int const in_flight_ = std::uncaught_exceptions();
  std::exception_ptr exception_;
};

namespace detail {

// Onto the calling thread's stack, as a task of `scope`. False: there is no room.
template <auto F>
bool push(nigh::detail::task_stack* stack, task_scope* scope, call<F>& call) {
  using kept = kept_call<F>;
  auto const push_onto = [&](nigh::detail::task_stack& to, nigh::detail::task_slot::entry entry) {
    if constexpr (!std::is_same_v<kept, detail::call<F>>) {
      auto box = std::make_unique<detail::call<F>>(std::move(call));
      ::new (static_cast<void*>(to.top->closure)) kept{call.what, std::move(box)};
    } else if constexpr (!std::is_trivially_move_constructible_v<kept>) {
      nigh::detail::push_constructed(to, scope, entry,
                                     [&](void* slot) { ::new (slot) kept(std::move(call)); });
      return true;
    } else {
      ::new (static_cast<void*>(to.top->closure)) kept(std::move(call));
    }
    to.top->object = scope;
    to.push(entry);
    return true;
  };
  if (stack == nullptr) return false;
  if (stack->top < stack->limit) [[likely]]
    return push_onto(*stack, &run_cluster_task);
  nigh::detail::slow_push const slow(nigh::detail::outsiders::stay);
  return slow.room() != nullptr && push_onto(*slow.room(), &run_cluster_task_at_depth);
}

NIGH_API bool begin_free_task() noexcept;  // false: in a thread that is no worker of a session

}  // namespace detail

template <auto F>
void task_scope::push(pointer<F> out, detail::arguments_of<F>&& arguments) {
  detail::check<F>(arguments);
  auto* stack = nigh::detail::this_stack;
  if (stack != stack_) [[unlikely]]
    stack = stack_of_spawner();
  else if (stack->top < base_) [[unlikely]]
    base_ = stack->top;  // an outer scope has waited meanwhile, and taken more tasks off
  detail::call<F> call{&detail::function_of<F>(), out, std::move(arguments)};
  if (detail::push<F>(stack, this, call)) [[likely]]
    return;
  try {
    call.run();
  } catch (...) {
    keep(std::current_exception());
  }
}

template <auto F>
void task_scope::place(near where, pointer<F> out, detail::arguments_of<F>&& arguments) {
  detail::check<F>(arguments);
  auto const input = detail::packed<F>(arguments);
  begin_placed();
  try {
    if (detail::place(where, {&detail::function_of<F>(), this, out, &detail::of_function<F>::store},
                      input))
      return;
  } catch (...) {
    end_placed();  // or wait() would wait for ever
    throw;
  }
  end_placed();
  push<F>(out, std::move(arguments));
}

// A task that only run() waits for: it returns when all free tasks are done, too. Free tasks may
// spawn free tasks. They run in any order, on any rank, at the latest when the task that spawned
// them ends; where the task stack is full, at once. run() throws their exceptions.
template <auto F, class... A>
  requires std::is_void_v<detail::result_of<F>>
void spawn_free(A&&... a) {
  static_cast<void>(&detail::free_tasks_of<F>::known);
  auto arguments = detail::keep<F>(std::forward<A>(a)...);
  detail::check<F>(arguments);
  detail::call<F> call{&detail::function_of<F>(), nullptr, std::move(arguments)};
  if (!detail::begin_free_task()) return call.run();
  if (detail::push<F>(nigh::detail::this_stack, nullptr, call)) return;
  try {
    call.run();
  } catch (...) {
    return detail::fail_free_task(std::current_exception());
  }
  detail::end_free_task();
}

// Collective: calls F(arguments...) as a task of rank 0 (where tasks are supervised, of the lowest
// rank that is left), helped by all, and returns its result on every rank once all tasks that it
// spawned are done. Every rank gets its exception as remote_error. The arguments of that rank count.
// std::logic_error: from inside a task; also on a rank that calls it for another function than that
// rank did.
template <auto F, class... A>
detail::result_of<F> run(A&&... a) {
  auto const arguments = detail::keep<F>(std::forward<A>(a)...);
  detail::check<F>(arguments);
  auto const output = detail::run_root(detail::function_of<F>(), detail::packed<F>(arguments));
  if constexpr (!std::is_void_v<detail::result_of<F>>)
    return detail::unpacker(output).get<detail::result_of<F>>();
}

}  // namespace nigh::cluster
