// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tasks of a parallel region, run by the threads of its team.
//
//   Team    a region, on the stack of the thread that begins it
//   Member  a thread's part of it: its deque, its free descriptors, the task that it runs
//
// A thread that waits for its children (taskwait, the end of a taskgroup) runs its own newer tasks,
// then steals descendants of the innermost tied task it is in: OpenMP's task scheduling constraint,
// so that a task may hold a lock while it waits. A thread at a barrier runs anything. So chains of
// waits go down in the tree of tasks, and end at a thread that runs one.
//
// A thread arrives at a barrier when all below its own implicit task has ended; when all have
// arrived, nothing is left. Tasks that it runs after its arrival belong to others' implicit tasks.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "openmp/task_hooks.hpp"
#include "openmp/tasks/following.hpp"
#include "openmp/tasks/kept.hpp"
#include "openmp/tasks/meeting.hpp"
#include "openmp/tasks/sleeper.hpp"
#include "openmp/tasks/task.hpp"
#include "openmp/tasks/task_deque.hpp"
#include "openmp/tasks/task_list.hpp"
#include "policy/stealing/steal_order.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

class DependNode;
struct DependMap;
struct NearQueues;
struct Team;
class Track;
struct Victims;

// Descriptors and what follows them: powers of two from 128 bytes on.
inline constexpr int size_classes = 24;
inline constexpr std::size_t least_block_bytes = 128;
constexpr std::uint8_t size_class_of(std::size_t bytes) noexcept {
  return static_cast<std::uint8_t>(bytes <= least_block_bytes ? 0 : 57 - __builtin_clzl(bytes - 1));
}
static_assert(size_class_of(128) == 0 && size_class_of(129) == 1 && size_class_of(257) == 2);

// The values that omp_set_...() changes.
struct Settings {
  int threads = 0, dynamic = 0, levels = 0, device = 0, kind = 0, chunk = 0;
};

// Only few tasks have this.
struct Extra {
  Task::Function function = nullptr;
  void* arguments = nullptr;      // null: they follow the descriptor
  DependNode* node = nullptr;     // its place among its siblings
  DependMap* children = nullptr;  // what they depend on
  BothEnds ends;                  // of a detachable one
  Team* team = nullptr;
  void const* near = nullptr;   // it works on this
  std::uint64_t event[2] = {};  // see event_of()
  Group* waited = nullptr;      // with it alone in it: an undeferred one, whose maker waits
  Settings own, before;         // of the task, and of the thread before it
};

// A task counts as made when its body begins: Member::made().
struct Counts {
  static constexpr std::size_t levels = static_cast<std::size_t>(level::host) + 1;

  std::uint64_t made = 0, at_once = 0, slept = 0;
  std::array<std::uint64_t, levels> stolen{};  // by the smallest level that holds both threads
  std::uint64_t near = 0, far = 0;             // run in the domain of their data, and elsewhere
  std::uint64_t exchanged = 0;                 // leases of regions, while these ran
};

// topology's names of levels, which this library does without.
inline constexpr std::array<char const*, Counts::levels> level_names{
    "cpu", "core", "l2", "l3", "domain", "package", "host"};

inline constexpr std::uint32_t deque_capacity = 4096;
using Deque = TaskDeque<Task, deque_capacity>;

// Some of a member's counts, as it last told them.
struct ToldCounts {
  sync::atomic<std::uint64_t> made{0}, stolen{0};
};

struct alignas(64) Member {
  static constexpr std::uintptr_t unknown_stack = UINTPTR_MAX;

  // Spawning and running a task touches this.
  Deque deque;
  Task* current = nullptr;
  Task* tied = nullptr;                // the innermost tied task; null at a barrier
  std::uint32_t base = 0;              // of the deque: what the current task has put lies above
  std::uint32_t number = 0;            // omp_get_thread_num()
  std::uint32_t size = 1;              // of the team
  std::uint32_t domain = 0;            // where it runs, in a process with several
  std::int32_t global_number = 0;      // libomp's, for its tasks
  std::int32_t number_in_libomp = -1;  // the same; -1: libomp is to be asked
  std::uint32_t runs_until_look = 1;   // see follow_sometimes()
  std::uint32_t runs_between_looks = 1;
  Task* again = nullptr;        // libomp's untied task that has another part
  Task* has_yielded = nullptr;  // ... and has ended this one by a taskyield
  Team* team = nullptr;
  sync::atomic<Task*> sleeps_within{nullptr};  // `tied` of a thread that sleeps
  sync::atomic<int> cpu{-1};                   // where it was when it last looked
  std::uintptr_t stack_low = unknown_stack;    // below here little is left of the thread's stack
  std::uint32_t random = 1;
  std::uint32_t rounds_until_look = 0;       // see look_around()
  policy::VictimPlan const* plan = nullptr;  // whom it asks for tasks; null: by their numbers
  Track* track = nullptr;                    // null: nobody wants a trace
  Counts counts;
  std::array<Task*, size_classes> free{};
  // Others write here.
  alignas(64) Sleeper sleeper;
  Elsewhere elsewhere;
  Kept<Extra> extras;
  Kept<DependNode> nodes;
  alignas(64) std::array<Returned<>, size_classes> returned{};
  // Rarely used.
  alignas(64) Task implicit;
  Follower follower;
  ToldCounts told;
  std::int64_t looked_ns = 0;
  bool has_let_others_begin = false;  // in this region
  bool is_elsewhere = false;          // and has answered no call
  bool owes_call = false;             // it has begun another's
  std::uint32_t arrivals = 0;         // in the team's barriers: their generation when it comes
  std::uint64_t barriers = 0;         // of this region, also of the runtime's, that are behind it
  std::uint32_t singles = 0;          // with copyprivate, that it has come to there
  Member* outer = nullptr;            // of the region around this one
  Member* inner = nullptr;            // of regions inside, kept
  Member* next = nullptr;             // in the list of all, and of those that nobody has
  Member* next_idle = nullptr;
  Victims* victims = nullptr;
  void* kmpc_group = nullptr;  // the innermost taskgroup with reductions that libomp has begun here

  // One count of bodies that begin is for the counts and for the looks.
  std::uint64_t made() const noexcept { return counts.made + runs_between_looks - runs_until_look; }
  void look_after(std::uint32_t runs) noexcept {
    counts.made = made();
    runs_between_looks = runs_until_look = runs;
  }
};

struct Team {
  // In a region without tasks, its threads read no more than the first line.
  sync::atomic<std::uint32_t> size{0};
  sync::atomic<std::uint32_t> cpus{1};  // for its threads, which may be more
  bool is_kmpc = false;                 // libomp's: its teams of one run each task at once
  bool is_libgomp = false;              // the runtime: libomp has libgomp's functions, too
  bool is_first = false;                // the program began with the runtime
  bool had_tasks = false;  // threads have shared some in an earlier region of this code
  EverShared ever_shared;
  int (*count_threads)() = nullptr;  // the runtime's, for each of them
  // Has the runtime make so many tasks that call answer_call(), for the threads that wait in a
  // barrier of its own. Null: all wait in ours first.
  void (*call)(Team& team, std::uint32_t tasks) noexcept = nullptr;
  RunningLease* lease = nullptr;  // null: its threads stay where they are
  MemberTable<Member, 16> members;
  sync::atomic<std::uint32_t> unanswered{0};  // threads that have been called, and have not come
  alignas(64) Arrivals arrivals;
  alignas(64) sync::atomic<std::uint32_t> sleepers{0};
  FirstComers singles;     // with copyprivate, of libgomp
  void* copied = nullptr;  // what the last of them hands to all, by its barrier
  MadeOnce<NearQueues> near;
  TeamDomains domains;  // kept where there are several
  TaskList injected;    // tasks that no member's deque could take
  TaskList yielded;     // untied tasks that have ended a part by a taskyield
  Changes changes;      // of the lease
};

// Of the calling thread: the innermost region whose tasks are ours; null: none.
NIGH_HIDDEN extern constinit thread_local Member* member;

// The same where all calls of libgomp's functions, or of libomp's, bind to that region: it is one
// of a runtime that the program began with, and so comes first for each library. Null: see
// bound_member.hpp.
NIGH_HIDDEN extern constinit thread_local Member* gomp_member;
NIGH_HIDDEN extern constinit thread_local Member* kmpc_member;
NIGH_HIDDEN void set_member(Member* now) noexcept;

// Its part of outermost regions, kept.
NIGH_HIDDEN extern constinit thread_local Member* first_member;

// ---- regions

struct Joined {
  std::uint32_t size = 0, number = 0;
  std::int32_t global_number = 0;
};
// The calling thread is a member from here on, or was one of the team around before.
NIGH_HIDDEN void enter(Team& team, Joined how) noexcept;
// Runs tasks until the team has none left.
NIGH_HIDDEN void leave() noexcept;
// After the last member has left.
NIGH_HIDDEN void end(Team& team) noexcept;

// Where a thread may leave a task, or begin one, of a team with a lease.
NIGH_HIDDEN void follow_lease(Member& me) noexcept;
// Before a task, when Member::runs_until_look is over.
NIGH_HIDDEN void follow_sometimes(Member& me) noexcept;

// ---- tasks. `me` is the calling thread.

// A descriptor with room for so many bytes after it; null: there is no memory.
NIGH_HIDDEN Task* refill(Member& me, std::uint8_t size_class) noexcept;

// Returns the group it is in.
inline Group* begin_task(Task& t, Task& parent, std::uint16_t flags) noexcept {
  Group* const group = parent.group;
  t.parent.store(&parent, sync::relaxed);
  t.group = group;
  t.level.store(parent.level.load(sync::relaxed) + 1, sync::relaxed);
  t.flags = flags;
  return group;
}

// Null also where refill() would have one. Hot paths call nothing before their ends, for then they
// need to save no registers.
inline Task* take_free(Member& me, std::uint8_t size_class) noexcept {
  Task* const t = me.free[size_class];
  if (t != nullptr) [[likely]]
    me.free[size_class] = t->parent.load(sync::relaxed);
  return t;
}

inline Task* new_task_of(Member& me, std::uint8_t size_class, std::uint16_t flags) noexcept {
  Task* t = size_class < size_classes ? take_free(me, size_class) : nullptr;
  if (t == nullptr) [[unlikely]] {
    t = refill(me, size_class);
    if (t == nullptr) return nullptr;
  }
  begin_task(*t, *me.current, flags);
  return t;
}

inline Task* new_task(Member& me, std::size_t bytes, std::uint16_t flags) noexcept {
  return new_task_of(me, size_class_of(sizeof(Task) + bytes), flags);
}

// The current task and its group wait for the task from now on.
inline void attach_to(Member& me, Task& parent, Group* group) noexcept {
  parent.own += Task::child;
  if (group == nullptr) [[likely]]
    return;
  if (group->owner == &me)
    ++group->own;
  else
    group->others.fetch_add(1, sync::relaxed);
}
inline void attach(Member& me, Task& t) noexcept { attach_to(me, *me.current, t.group); }
inline void begin_attached_task(Member& me, Task& t, std::uint16_t flags) noexcept {
  Task& parent = *me.current;
  attach_to(me, parent, begin_task(t, parent, flags));
}

// Before a body begins.
inline void count_run(Member& me) noexcept {
  if (--me.runs_until_look == 0) [[unlikely]]
    follow_sometimes(me);
}
// To look for the stack's end allocates, and each thread that does so reserves 64 MiB of addresses:
// only those that have a task look.
NIGH_HIDDEN void look_for_stack(Member& me) noexcept;
inline bool is_known_stack_low(Member const& me) noexcept {
  auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here < me.stack_low && me.stack_low != Member::unknown_stack;
}
inline bool is_stack_low(Member& me) noexcept {
  if (me.stack_low == Member::unknown_stack) [[unlikely]]
    look_for_stack(me);
  return is_known_stack_low(me);
}

NIGH_HIDDEN void run(Member& me, Task& t) noexcept;
NIGH_HIDDEN void run_plainly(Member& me, Task& t) noexcept;
// Before tasks are where others look; of the region's first, calls those who wait elsewhere.
NIGH_HIDDEN void call_others(Member& me) noexcept;
inline void note_shared(Member& me) noexcept {
  if (me.team->ever_shared.note()) [[unlikely]]
    call_others(me);
}
// Somebody has asked for tasks.
NIGH_HIDDEN void share(Member& me) noexcept;
// All of them, because the thread will not look again for long.
NIGH_HIDDEN void share_all(Member& me) noexcept;
// Runs it at once, unless little is left of the stack.
NIGH_HIDDEN void submit_at_once(Member& me, Task& t) noexcept;

NIGH_HIDDEN void submit_slowly(Member& me, Task& t) noexcept;
// Puts a task where it waits for a thread; runs it at once where there is no room.
inline void submit(Member& me, Task& t) noexcept {
  if (!me.deque.push_at_hand(&t)) [[unlikely]]
    return submit_slowly(me, t);
  if (me.deque.is_wanted()) [[unlikely]]
    share(me);
}
// Of large arguments only so much memory waits, which a cache may hold, but enough tasks for all
// threads: libgomp and libomp let fewer tasks wait than we do.
inline constexpr std::uint8_t large_class = 4;  // from 2 KiB on
inline bool is_much_waiting(Member const& me, std::uint8_t size_class) noexcept {
  constexpr std::uint64_t many_bytes = 1 << 20;
  std::uint64_t const many = std::max(16U, 4 * me.size);
  std::uint64_t const waiting = me.deque.waiting();
  return waiting >= many && waiting * (least_block_bytes << size_class) > many_bytes;
}
inline void submit_unless_large(Member& me, Task& t) noexcept {
  if (t.size_class >= large_class && is_much_waiting(me, t.size_class)) [[unlikely]]
    return submit_at_once(me, t);
  submit(me, t);
}
// The same of a task that may say what it works on.
NIGH_HIDDEN void submit_somewhere(Member& me, Task& t) noexcept;
// Wakes a thread of this domain, or else another at a barrier, unless only those of the domain may
// run it.
NIGH_HIDDEN void notify_near(Member& me, std::uint32_t domain, bool there_only) noexcept;
// The team's threads find it when they have nothing else. One that waits for it is there, so nobody
// is called.
NIGH_HIDDEN void inject(Team& team, Task& t) noexcept;

// The body of libomp's if(0) runs between these two, in the program. A Frame is not copied: a copy
// reads it in one piece soon after it was written in several, for which processors wait.
struct Frame {
  Task* current;
  Task* tied;
  std::uint32_t base;
};
inline Frame begin_body(Member& me, Task& t) noexcept {
  Frame const before{me.current, me.tied, me.base};
  me.current = &t;
  if (!t.is(flag::untied)) me.tied = &t;
  me.base = me.deque.top();
  t.owner.store(&me, sync::relaxed);
  return before;
}
NIGH_HIDDEN void end_body(Member& me, Task& t, Frame const& before) noexcept;
// The same of a task that is not attached, for its parent goes on no sooner than here. It is
// attached late if children that have not ended need its descriptor.
NIGH_HIDDEN void end_body_late(Member& me, Task& t, Task* current, Task* tied,
                               std::uint32_t base) noexcept;
inline void end_unattached_body(Member& me, Task& t, Frame const& before) noexcept {
  if (t.is(flag::extra) || !t.is_as_begun()) [[unlikely]]
    return end_body_late(me, t, before.current, before.tied, before.base);
  me.current = before.current;
  me.tied = before.tied;
  me.base = before.base;
  t.parent.store(me.free[t.size_class], sync::relaxed);
  me.free[t.size_class] = &t;
}

// Wakes a thread that may take what `me` has just published: one at a barrier, or else one that
// waits for something above what `me` runs.
NIGH_HIDDEN void notify(Member& me) noexcept;
// All others that sleep.
NIGH_HIDDEN void wake_all(Member& me) noexcept;
// Shares the private tasks of others, who may be away in code that knows nothing of tasks, and may
// wait there for one of them. False: there were none.
NIGH_HIDDEN bool publish_for_others(Member& me) noexcept;

// A detachable task's event has come. On any thread; also in a signal handler of one that sleeps
// until then.
NIGH_HIDDEN void fulfill(Task& t) noexcept;
NIGH_HIDDEN void* event_of(Task& t) noexcept;
NIGH_HIDDEN Task* task_of_event(void* event) noexcept;  // null: the runtime's

NIGH_HIDDEN Extra* extra_of(Member& me, Task& t) noexcept;  // made when it has none

NIGH_HIDDEN void taskwait_slowly(Member& me) noexcept;
inline void taskwait(Member& me) noexcept {
  if (!me.current->is_childless()) taskwait_slowly(me);
}
NIGH_HIDDEN void taskyield(Member& me) noexcept;
NIGH_HIDDEN void barrier(Member& me) noexcept;
// Its second half: runs tasks until those have arrived who had not at this generation.
NIGH_HIDDEN void run_until_all_arrive(Member& me, std::uint32_t before) noexcept;
// Before the team begins: where nothing speaks against it, threads may wait in the runtime's
// barriers while there are no tasks.
NIGH_HIDDEN void wait_elsewhere(Team& team) noexcept;
// Before a barrier of the runtime's own. Where the region has no tasks, and has means to call those
// who wait there, the thread goes there at once. Otherwise all come together in ours first.
NIGH_HIDDEN void barrier_before_real(Member& me) noexcept;
// Behind it, if the thread was there, or has begun a task there.
NIGH_HIDDEN void come_from_real(Member& me) noexcept;
// In one of the runtime's tasks that the team has called for: if the thread waits in a barrier of
// the runtime's, it runs tasks until all have arrived. `further`: how many such tasks it makes
// first.
NIGH_HIDDEN void answer_call(Team& team, std::uint32_t further) noexcept;

NIGH_HIDDEN void begin_group(Member& me) noexcept;
// Waits for its tasks; the caller ends it after its last look at it.
NIGH_HIDDEN Group* wait_group(Member& me) noexcept;
NIGH_HIDDEN void end_group(Group* group) noexcept;
// Before an undeferred detachable task, which ends when its event has come, whatever its own tasks
// do; and after its body.
NIGH_HIDDEN Group* begin_wait_for(Member& me, Task& t) noexcept;
NIGH_HIDDEN void end_wait_for(Member& me, Group* t) noexcept;

// ---- dependences (dependences.cpp)

enum class Access : std::uint8_t { in, out, set, mutex };  // inoutset, mutexinoutset
struct Depend {
  std::uintptr_t address;  // 0 with `out`: all memory
  Access access;
};
// Submits a task once the earlier siblings that it depends on have ended.
NIGH_HIDDEN void submit_after(Member& me, Task& t, Depend const* list, std::size_t count) noexcept;
// Children of this task have been submitted so.
inline bool has_dependences(Task const& parent) noexcept {
  return parent.is(flag::extra) && parent.extra->children != nullptr;
}
NIGH_HIDDEN void wait_for(Member& me, Depend const* list, std::size_t count) noexcept;
// The task has ended: those that depend on it may run. After an event they do not go into the
// thread's deque, for they need not descend from the task that the thread is in.
enum class After : std::uint8_t { body, event };
NIGH_HIDDEN void release_dependents(Member* me, Task& ended, After after) noexcept;
NIGH_HIDDEN void drop(DependMap* map) noexcept;

// Waits until done(): runs own newer tasks, then steals what the thread may run meanwhile.
using Done = bool (*)(void* what) noexcept;
NIGH_HIDDEN void wait_until(Member& me, Done done, void* what) noexcept;

// ---- memory (members.cpp)

[[noreturn]] NIGH_HIDDEN void out_of_memory() noexcept;
NIGH_HIDDEN Member* member_for_this_thread(Member* outer) noexcept;
// Whether this is one of ours, and not another that lies before a kmp_task_t.
NIGH_HIDDEN bool is_task(Task const& t) noexcept;
// For people who look while the program runs: each thread tells its counts now and then, and a
// leader tells the sum of all to nighd, ten times a second at most.
NIGH_HIDDEN void note_counts(Member& me) noexcept;
NIGH_HIDDEN void tell_counts(RunningLease& to, std::int64_t now_ns) noexcept;
// All counts together, of members alive and gone.
NIGH_HIDDEN Counts counted() noexcept;
NIGH_HIDDEN void reset_in_child() noexcept;

}  // namespace nigh::openmp::tasks
