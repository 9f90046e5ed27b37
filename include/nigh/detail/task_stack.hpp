// SPDX-License-Identifier: Apache-2.0
#pragma once
// The split task stack: where a thread's forked tasks wait, to be popped by itself, newest first,
// or stolen, oldest first. One for each worker, of fixed size, with the descriptors in place
// (the split queue of Dinan et al., "Scalable Work Stealing", SC'09, and HotSLAW, Min et al.,
// PGAS'11; descriptors as in van Dijk and van de Pol, "Lace", 2014).
//
//      slots      tail          split               top           limit
//        │ stolen  │   shared     │     private      │    free      │
//        └─────────┴──────────────┴──────────────────┴──────────────┘
//
//   owner   push, pop at top; publish moves split up, reclaim moves it down; one thread
//   thief   steal at tail, any thread
//
// Private tasks are the owner's: push and pop write no word that thieves write, and have no fence.
// Tail and split share one word, so that a steal and a reclaim cannot both have a task: each is one
// compare-exchange of that word, and the loser sees what became of it.
//
// An owner that runs a long task looks at nothing meanwhile. Another thread that has looked for
// work in vain for a while then publishes its private tasks in its place. The owner's hot paths
// have no fence for that: the other thread makes each thread of the process pass one. (As in
// src/openmp/tasks/task_deque.hpp.)
//
// Invariant: tail <= split <= top <= capacity, as slot indices. Tasks are joined newest first, so
// when the top task has been stolen, so have all below it, and tail == split == top.
//
// (stack.C) A task is seen whole: publish() releases the word after the slot was written; take()
//     acquires it before the slot is read. Steals and reclaims in between are read-modify-writes,
//     which carry the release on. A slot is written anew only after its thief finished with it, by
//     (stack.E).
// (stack.E) finish() releases what the thief did; finished() acquires it, so the joiner sees the
//     results. The counters of a scope's tasks do the same: the last step down to 0, and the load
//     that reads 0.
// (stack.A) Of a private task, either the owner's pop sees that split has passed it, or the other
//     thread sees that it is gone: each stores its side, passes a fence, and loads the other's.
// (stack.B) The owner's own changes of split, and its reading of a slot that it takes off, exclude
//     the other thread in the same way, by `changes` and `helped`; who begins sees what was before.
// (stack.P) The other thread sees whole tasks below top: the owner releases top, it acquires it.
// By (parking.S) a sleeper misses no published task, and no finished one that it waits for
// (runtime/parking.hpp).

#include <cstddef>
#include <cstdint>
#include <nigh/detail/atomic.hpp>
#include <nigh/detail/export.hpp>

namespace nigh {

namespace tasks {
class Scheduler;
struct Worker;
}  // namespace tasks

// A task stack, for those who only hand it on (typed_task.hpp).
class task_context {
 public:
  task_context(task_context const&) = delete;
  task_context& operator=(task_context const&) = delete;

 protected:
  constexpr task_context() = default;
  ~task_context() = default;
};

}  // namespace nigh

namespace nigh::detail {

struct task_stack;

struct task_slot {
  // Runs the task; keeps its exceptions. `popping` is the stack whose owner takes the task off the
  // top, and gets end_taking() as soon as nothing in the slot is needed any more. Null for a thief,
  // who holds the slot until finish().
  using entry = void (*)(task_slot& slot, task_stack* popping) noexcept;

  static constexpr std::size_t closure_bytes = 40;
  // The states. Any other value is 1 + the thief's thread slot. `away`: the thief is no thread of
  // this process, and gives no_thread as its slot.
  static constexpr std::uint32_t waiting = 0, done = ~0u, away = done - 1, no_thread = away - 1;

  entry call;
  void* object;  // what the task belongs to: a forked call or a scope
  alignas(8) std::byte closure[closure_bytes];
  sync::atomic<std::uint32_t> state;  // written once stolen; `waiting` again when joined
  std::uint32_t depth;                // in the tree of tasks; kept only when the runtime tracks it

  bool finished() const noexcept { return state.load(sync::acquire) == done; }  // (stack.E)
  void finish() noexcept { state.store(done, sync::seq_cst); }  // (stack.E) (parking.S)
};
#if !defined(NIGH_MODEL_ATOMICS) && !defined(NIGH_CHAOS)
static_assert(sizeof(task_slot) == 64, "one cache line");
#endif

// The result of an attempt to steal.
enum class steal : std::uint8_t { taken, lost, empty };  // lost: another thread was faster

// Where an owner's tasks end. It alone writes it.
class stack_top {
 public:
  constexpr stack_top() = default;
  operator task_slot*() const noexcept { return at_.load(sync::relaxed); }
  task_slot* operator->() const noexcept { return at_.load(sync::relaxed); }
  void operator=(task_slot* slot) noexcept { at_.store(slot, sync::release); }  // (stack.P)
  // For others: all below is whole.
  task_slot* seen() const noexcept { return at_.load(sync::acquire); }  // (stack.P)

 private:
  sync::atomic<task_slot*> at_{nullptr};
};

// The owner publishes, and wakes somebody if all are asleep.
NIGH_API void share_tasks(task_stack& stack) noexcept;

struct alignas(64) task_stack : task_context {
  struct range {
    task_slot* first = nullptr;
    std::uint32_t count = 0;
  };

  // The owner writes here, and who helps it writes split. Thieves read `slots` and `share_goal`.
  stack_top top;
  task_slot* limit = nullptr;  // from here on a push takes the slow way
  sync::atomic<task_slot*> split{nullptr};
  task_slot* slots = nullptr;
  std::uint32_t capacity = 0;
  std::uint32_t share_goal = 0;  // so many are shared before a thief asks, if there are; 0: none
  tasks::Worker* worker = nullptr;  // whose stack this is; null: nobody's
  task_slot* base = nullptr;        // what the C interface waits for lies above it: all that the
                                    // running task has put
  sync::atomic<std::uint32_t> changes{0};  // that the owner is at, one within the other

  // Thieves write here.
  alignas(64) sync::atomic<std::uint64_t> shared{0};  // tail, and split above it
  sync::atomic<bool> wanted{false};                   // the owner should publish
  sync::atomic<bool> helped{false};                   // another thread does

  std::uint32_t index(task_slot const* s) const noexcept {
    return static_cast<std::uint32_t>(s - slots);
  }
  bool is_private(task_slot const* s) const noexcept { return s >= split.load(sync::relaxed); }
  // 0 also for others who see an old top beside a new split.
  std::uint32_t private_tasks() const noexcept {
    task_slot const* const end = top.seen();
    task_slot const* const begin = split.load(sync::relaxed);
    return begin < end ? static_cast<std::uint32_t>(end - begin) : 0;
  }

  static constexpr std::uint64_t pack(std::uint32_t tail, std::uint32_t split_at) noexcept {
    return tail | std::uint64_t{split_at} << 32;
  }
  static constexpr std::uint32_t tail_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }
  static constexpr std::uint32_t split_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }

  // Owner: `slot`, the one at top, which the caller has filled in except for its entry, is a task from now on. There
  // must be room.
  void push(task_slot* slot, task_slot::entry entry) noexcept {
    slot->call = entry;
    top = slot + 1;
    if (wanted.load(sync::relaxed)) [[unlikely]]
      share_tasks(*this);
  }
  void push(task_slot::entry entry) noexcept { push(top, entry); }

  // Owner: takes off `slot`, if it is the newest task and nobody could have taken it.
  bool pop(task_slot* slot) noexcept {
    // Not slot + 1, which would be kept in a register through the task.
    auto const newest = reinterpret_cast<std::uintptr_t>(static_cast<task_slot*>(top)) - sizeof(task_slot);
    if (newest != reinterpret_cast<std::uintptr_t>(slot)) [[unlikely]]
      return false;
    top = slot;
    sync::light_fence();  // (stack.A)
    if (!is_private(slot)) [[unlikely]] {
      top = top + 1;
      return false;
    }
    return true;
  }

  // Owner: from here to end_changing() nobody helps, if nobody does now (is_helped()).
  void begin_changing() noexcept {
    changes.store(changes.load(sync::relaxed) + 1, sync::relaxed);
    sync::light_fence();  // (stack.B)
  }
  bool is_changing() const noexcept { return changes.load(sync::relaxed) != 0; }
  bool is_helped() const noexcept { return helped.load(sync::acquire); }  // (stack.B)
  void end_changing() noexcept {
    changes.store(changes.load(sync::relaxed) - 1, sync::release);  // (stack.B)
  }

  // Owner: begins to take off the topmost task, which is its own from then on. False: perhaps it is
  // not private. Its entry says when nothing in the slot is needed any more, by end_taking().
  bool begin_taking(task_slot* slot) noexcept {
    begin_changing();
    if (!is_helped() && is_private(slot)) [[likely]]
      return true;
    end_changing();
    return false;
  }
  void end_taking(task_slot* slot) noexcept {
    top = slot;
    end_changing();
  }

  // Owner, changing: lets thieves have the oldest n private tasks.
  void publish(std::uint32_t n) noexcept {
    wanted.store(false, sync::relaxed);  // first, so that a thief of these may set it again
    split.store(split.load(sync::relaxed) + n, sync::relaxed);
    auto const before =
        shared.fetch_add(std::uint64_t{n} << 32, sync::seq_cst);  // (stack.C) (parking.S)
    if (split_of(before) + n - tail_of(before) < share_goal) wanted.store(true, sync::relaxed);
  }

  // Owner, changing: takes back `slot`, the topmost and no longer private one, and the newer half
  // of what is shared below it, rounded down: what is left is for those who are on their way to it.
  // False when it has been stolen. Relaxed, since the owner wrote these slots itself.
  bool reclaim(task_slot* slot) noexcept {
    auto const at = index(slot);
    auto word = shared.load(sync::relaxed);
    for (;;) {
      auto const tail = tail_of(word);
      if (tail > at) return false;
      auto const kept = tail + (at - tail + 1) / 2;
      if (!shared.compare_exchange_strong(word, pack(tail, kept), sync::relaxed)) continue;
      split.store(slots + kept, sync::relaxed);
      if (kept - tail < share_goal) wanted.store(true, sync::relaxed);
      return true;
    }
  }

  // Owner, changing: forgets `slot`, the topmost one, whose thief has finished.
  void drop_stolen(task_slot* slot) noexcept {
    slot->state.store(task_slot::waiting, sync::relaxed);
    top = slot;
    split.store(slot, sync::relaxed);
    // Nothing is shared, so nobody else can be changing the word.
    shared.store(pack(index(slot), index(slot)), sync::relaxed);
  }

  // Thief, in thread slot `thief`: takes the oldest shared tasks, as many as how_many(shared) says.
  template <class HowMany>
  steal take(std::uint32_t thief, range& got, HowMany how_many) noexcept {
    auto word = shared.load(sync::relaxed);
    auto const tail = tail_of(word), available = split_of(word) - tail;
    if (tail >= split_of(word)) return steal::empty;
    auto const n = static_cast<std::uint32_t>(how_many(available));
    if (!shared.compare_exchange_strong(word, word + n, sync::acquire))  // (stack.C)
      return steal::lost;
    got = {slots + tail, n};
    for (std::uint32_t i = 0; i < n; ++i) slots[tail + i].state.store(thief + 1, sync::relaxed);
    if (available - n < share_goal) wanted.store(true, sync::relaxed);
    return steal::taken;
  }

  // Thief: found nothing; asks the owner for more.
  void ask() noexcept {
    if (!wanted.load(sync::relaxed)) wanted.store(true, sync::relaxed);
  }

  // Others have asked for tasks, and the owner has some and has not come by.
  bool is_unanswered() const noexcept {
    return wanted.load(sync::relaxed) && private_tasks() != 0;
  }

  // For those about to sleep.
  bool has_shared() const noexcept {
    auto const word = shared.load(sync::seq_cst);  // (parking.S)
    return tail_of(word) < split_of(word);
  }
};

// The calling thread's stack. A thread that has none has one without room, so that there is one
// test on the way of every spawn.
extern NIGH_API constinit task_stack no_stack;
extern NIGH_API constinit task_stack ended_stack;  // that of a scope that has been destroyed
extern NIGH_API constinit task_slot no_slot[1];    // in nobody's stack
extern NIGH_API constinit thread_local task_stack* this_stack
    __attribute__((tls_model("initial-exec")));

// The slow ways. All in src/runtime/.

// The owner begins to change its stack, when nobody helps there any more.
NIGH_API void begin_changing(task_stack& stack) noexcept;
// Pushes a task whose function construct(where) puts into its slot. That may make tasks, too, which
// go above, and are not shared until then. There must be room.
template <class Construct>
void push_constructed(task_stack& to, void* object, task_slot::entry entry,
                      Construct construct) noexcept {
  task_slot* const slot = to.top;
  begin_changing(to);
  to.top = slot + 1;
  construct(static_cast<void*>(slot->closure));
  slot->object = object;
  slot->call = entry;
  to.end_changing();
  if (to.wanted.load(sync::relaxed)) [[unlikely]]
    share_tasks(to);
}

// The owner runs or awaits the topmost task, and takes it off.
NIGH_API void finish_top(task_stack& stack) noexcept;
// The same until `slot` is the top.
NIGH_API void finish_down_to(task_stack& stack, task_slot* slot) noexcept;
// A typed_task was taken off by somebody else before it was joined.
[[noreturn]] NIGH_API void refuse_late_join() noexcept;

// The calling thread works for a runtime, as an external thread, between enter() and leave(), which
// gets what enter() returned: the stack it had before. Null: nothing has changed, because the
// thread is one of the runtime's own already, or because it has no stack and there is no thread
// slot left. A thread of another runtime that finds no slot left has no stack until leave().
NIGH_API task_stack* enter(tasks::Scheduler& host);
NIGH_API void leave(task_stack* before) noexcept;

// The same as long as this lives. A null host: not at all.
class external_thread {
 public:
  explicit external_thread(tasks::Scheduler* host)
      : before_(host != nullptr ? enter(*host) : nullptr) {}
  ~external_thread() {
    if (before_ != nullptr) leave(before_);
  }
  external_thread(external_thread&&) = delete;
  external_thread& operator=(external_thread&&) = delete;

 private:
  task_stack* before_;
};

// Of threads that have no task stack: do they enter the default runtime for the time of the push?
enum class outsiders : std::uint8_t { enter, stay };

// May a task be pushed where the plain way found no room, and onto which stack? It pushes nothing
// itself. Keeps counts and cutoffs for the runtimes that have them: between construction and
// destruction, the thread is one task deeper.
class NIGH_API slow_push {
 public:
  explicit slow_push(outsiders rule);
  ~slow_push();
  slow_push(slow_push&&) = delete;
  slow_push& operator=(slow_push&&) = delete;
  task_stack* room() const noexcept { return stack_; }  // null: run it inline

 private:
  external_thread external_;
  task_stack* stack_ = nullptr;
};

// The calling worker runs a task that deep in its tree, as long as this lives. For entries of slots
// that were pushed slowly.
class NIGH_API at_depth {
 public:
  explicit at_depth(std::uint32_t depth) noexcept;
  ~at_depth();
  at_depth(at_depth&&) = delete;
  at_depth& operator=(at_depth&&) = delete;

 private:
  std::uint32_t before_;
};

}  // namespace nigh::detail
