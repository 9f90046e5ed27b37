// SPDX-License-Identifier: Apache-2.0
#pragma once
// A task of an OpenMP program: its descriptor, what it still waits for, and where its memory goes.
//
// The descriptor is one cache line; the arguments, or libomp's kmp_task_t, follow it. It outlives
// the task's body while children of the task have not ended, because they count down in it.
//
// One number in two halves counts what a task waits for: *unfinished* children, for taskwait, and
// *held* descriptors of children, for its own descriptor's end. The thread that runs the task (its
// owner; another one only after it was put off) counts in a plain word, `own`; all others count in
// an atomic one, `others`, which starts at `running` so that it cannot reach 0 while the body runs.
//
//   born         own    += child                     owner of the parent
//   child ended  own or others -= child              child without children of its own left
//                own or others -= unfinished         its descriptor is still needed
//                own or others -= held               ... and now no more
//   body ended   others += own - running             from here on `others` is the whole number
//   put off      others += own, own = 0              the next owner begins at 0
//
// The thread that makes `others` 0 gives the descriptor back, and counts down in its parent. The
// counts of a free descriptor are those of a task whose body begins, so that the next task need not
// write them.
//
// (task.K) Counting down in `others` releases what the child did; the owner, and the last one to
// count
//     down, acquire it. So what follows a taskwait sees what the children did, and memory is used
//     anew only after all have let go of it.
// (task.F) A descriptor, or what it has beside it (kept.hpp), goes back to the thread it came from:
//     other threads push it onto a list there (release), the owner takes the whole list (acquire),
//     so no address can come back in between.
// (task.O) A task that was put off may go on by another thread. The child's thread looks for the
//     owner after it has counted down, and a new owner is stored before it looks at the counts: so
//     the thread that waits is woken.
// (task.V) Of a detachable task's body and its event, the one that comes second sees all that the
//     first did, and completes the task.
// A sleeper misses no child that ends by (sleeper.S).
//
// A thief that looks whether a task descends from another reads descriptors that may be used anew
// meanwhile. They are never unmapped, their `parent` and `level` are atomic, and what the thief
// made of them counts only if the task was still in its deque (task_deque.hpp).

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"

namespace nigh::openmp::tasks {

struct Member;
struct Extra;
struct Task;

// The tasks of a taskgroup, and their descendants.
struct Group {
  Group* outer = nullptr;
  Member* owner = nullptr;  // the thread that waits for them
  Task* of = nullptr;       // the task that has begun it
  std::int64_t own = 0;
  sync::atomic<std::int64_t> others{0};
  std::uintptr_t* reductions = nullptr;  // libgomp's description of them
  void* reductions_kmpc = nullptr;       // libomp's own taskgroup with reductions
  void* kmpc_before = nullptr;           // the owner's Member::kmpc_group before that
  bool has_real = false;                 // libomp has begun a taskgroup beside this one
  bool is_linked = false;                // ... which points to another thread's
};

namespace flag {
inline constexpr std::uint16_t kmpc = 1;   // libomp's: a kmp_task_t follows
inline constexpr std::uint16_t final = 2;  // and so all below it
inline constexpr std::uint16_t untied = 4;
inline constexpr std::uint16_t extra = 8;        // `extra` instead of `function`
inline constexpr std::uint16_t destructor = 16;  // libomp's private variables have one
inline constexpr std::uint16_t started = 32;
inline constexpr std::uint16_t detachable = 64;  // ends when its event comes, too
inline constexpr std::uint16_t implicit = 128;   // a thread's part of a region
inline constexpr std::uint16_t settings = 256;   // has some of its own: see settings.hpp
inline constexpr std::uint16_t large = 512;      // libomp's: of large_class
}  // namespace flag

struct alignas(64) Task {
  // The halves of what is left: unfinished children below, held descriptors above.
  static constexpr std::int64_t unfinished = 1, held = std::int64_t{1} << 32,
                                child = held + unfinished, running = std::int64_t{1} << 62;
  using Function = void (*)(void*);

  sync::atomic<Task*> parent;  // in a list of free descriptors: the next one
  std::int64_t own;
  sync::atomic<std::int64_t> others;
  // Of a body that runs; null: it has ended, or is put off. Before: nothing that counts.
  sync::atomic<Member*> owner;
  union {
    Function function;  // libgomp's
    Extra* extra;
  };
  Group* group;
  Member* home;  // where the descriptor goes back to
  sync::atomic<std::uint32_t> level;
  std::uint16_t flags;
  std::uint8_t size_class;

  void* block() noexcept { return this + 1; }
  bool is(std::uint16_t which) const noexcept { return (flags & which) != 0; }

  // In a list of free descriptors.
  void set_next_free(Task* next) noexcept { parent.store(next, sync::relaxed); }

  void begin_counts() noexcept {
    own = 0;
    others.store(running, sync::relaxed);
  }
  // Owner: all that it has counted up it has counted down itself, so there is nothing to acquire. A
  // task is drained otherwise as well, after other threads have run its children.
  bool is_as_begun() const noexcept { return own == 0 && others.load(sync::relaxed) == running; }
  // Owner: no child is unfinished.
  bool is_childless() const noexcept {
    auto const of_others = others.load(sync::seq_cst);  // (task.K) (sleeper.S)
    return static_cast<std::uint32_t>(own + of_others) == 0;
  }
  // Owner: and no descriptor of one is held.
  bool is_drained() const noexcept {
    return own + others.load(sync::seq_cst) == running;  // (task.K) (sleeper.S)
  }
  // Not the owner: true when nothing is left, and the descriptor is the caller's to give back.
  bool count_down(std::int64_t by) noexcept {
    return others.fetch_sub(by, sync::seq_cst) == by;  // (task.K) (sleeper.S)
  }
  // The thread to be woken after a count; null: none runs the body.
  Member* owner_after_count() const noexcept { return owner.load(sync::seq_cst); }  // (task.O)
  // Owner: any thread may go on with the body.
  void put_off() noexcept {
    auto const mine = own;
    own = 0;
    owner.store(nullptr, sync::relaxed);
    others.fetch_add(mine, sync::acq_rel);  // (task.K)
  }
  void go_on(Member& by) noexcept { owner.store(&by, sync::seq_cst); }  // (task.O)
  // Owner, after the body: the same.
  bool end_body() noexcept {
    auto const mine = own - running;
    own = 0;
    return others.fetch_add(mine, sync::acq_rel) + mine == 0;  // (task.K)
  }
};

// Reads descriptors that may belong to other tasks by now.
inline bool descends_from(Task const& task, Task const& ancestor) noexcept {
  auto const level = ancestor.level.load(sync::relaxed);
  Task const* t = task.parent.load(sync::relaxed);
  for (int steps = 0; t != nullptr && t->level.load(sync::relaxed) > level && steps < 1 << 20;
       ++steps)
    t = t->parent.load(sync::relaxed);
  return t == &ancestor;
}

// Whether one task made both. It may read such descriptors, too.
inline bool are_siblings(Task const& a, Task const& b) noexcept {
  return a.parent.load(sync::relaxed) == b.parent.load(sync::relaxed);
}

// A detachable task ends when both its body and its event have come; each calls once.
class BothEnds {
 public:
  bool is_second() noexcept { return come_.fetch_add(1, sync::acq_rel) != 0; }  // (task.V)

 private:
  sync::atomic<std::uint32_t> come_{0};
};

// Memory of one size that comes back from other threads: descriptors, or what a task has beside
// one.
template <class T = Task>
struct Returned {
  sync::atomic<T*> first{nullptr};

  void give_back(T* given) noexcept {
    T* next = first.load(sync::relaxed);
    do {
      given->set_next_free(next);
    } while (!first.compare_exchange_strong(next, given, sync::release));  // (task.F)
  }
  T* take_all() noexcept { return first.exchange(nullptr, sync::acquire); }  // (task.F)
};

}  // namespace nigh::openmp::tasks
