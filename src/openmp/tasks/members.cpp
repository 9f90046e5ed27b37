// SPDX-License-Identifier: Apache-2.0
// The memory of team threads: what each has for its part of a region, and the descriptors of tasks.
// Thieves may look at it when its thread has ended, so it is never freed, but used anew.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <new>

#include "openmp/tasks/team.hpp"
#include "openmp/tasks/trace.hpp"
#include "openmp/tasks/victims.hpp"
#include "platform/own_stack.hpp"
#include "platform/thread.hpp"

namespace nigh::openmp::tasks {

constinit thread_local Member* first_member = nullptr;

namespace {

// One that a thread has left is another thread's next.
constinit pthread_mutex_t members_lock = PTHREAD_MUTEX_INITIALIZER;
constinit Member* all_members = nullptr;
constinit Member* idle_members = nullptr;
constinit pthread_key_t at_thread_end{};
constinit bool has_key = false;

// Another destructor of the thread may begin a region later: it gets another one.
extern "C" void thread_ended(void* first) {
  first_member = nullptr;
  pthread_mutex_lock(&members_lock);
  for (auto* m = static_cast<Member*>(first); m != nullptr;) {
    Member* const inner = m->inner;
    forget_victims(*m);  // which no thief looks at
    m->inner = m->outer = nullptr;
    m->next_idle = idle_members;
    idle_members = m;
    m = inner;
  }
  pthread_mutex_unlock(&members_lock);
}

__attribute__((constructor)) void make_key() {
  has_key = pthread_key_create(&at_thread_end, thread_ended) == 0;
}

}  // namespace

void out_of_memory() noexcept {
  fprintf(stderr, "nigh: no memory for the program's tasks\n");
  abort();
}

// An eighth of it is little, and not more than a quarter MiB.
void look_for_stack(Member& me) noexcept {
  platform::Stack const stack = platform::own_stack();
  auto const little = std::min(stack.bytes / 8, std::size_t{256} * 1024);
  me.stack_low = stack.low == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(stack.low) + little;
}

Member* member_for_this_thread(Member* outer) noexcept {
  pthread_mutex_lock(&members_lock);
  Member* m = idle_members;
  if (m != nullptr) {
    idle_members = m->next_idle;
  } else {
    void* const room = platform::map_zeroes(sizeof(Member));
    if (room == nullptr) out_of_memory();
    m = new (room) Member;
    m->track = new_track(outer != nullptr);
    m->next = all_members;
    all_members = m;
  }
  pthread_mutex_unlock(&members_lock);
  m->outer = outer;
  m->rounds_until_look = 0;
  m->stack_low = outer != nullptr ? outer->stack_low : Member::unknown_stack;
  if (outer == nullptr && has_key) pthread_setspecific(at_thread_end, m);
  return m;
}

Task* refill(Member& me, std::uint8_t size_class) noexcept {
  if (size_class >= size_classes) return nullptr;
  if (Task* const all = me.returned[size_class].take_all(); all != nullptr) {
    me.free[size_class] = all->parent.load(sync::relaxed);
    return all;
  }
  std::size_t const size = least_block_bytes << size_class;
  std::size_t const chunk = size < 65536 ? 65536 : size;
  auto* const memory = static_cast<char*>(platform::map_zeroes(chunk));
  if (memory == nullptr) return nullptr;
  Task* first = nullptr;
  for (std::size_t at = chunk / size; at-- > 0;) {
    auto* const t = new (memory + at * size) Task;
    t->home = &me;
    t->size_class = size_class;
    t->begin_counts();
    t->parent.store(first, sync::relaxed);
    first = t;
  }
  me.free[size_class] = first->parent.load(sync::relaxed);
  return first;
}

void reset_in_child() noexcept {
  members_lock = PTHREAD_MUTEX_INITIALIZER;
  for (Member* m = all_members; m != nullptr; m = m->next) {
    m->deque.forget_helper();
    m->runs_between_looks = m->runs_until_look;
    m->counts = {};
    note_counts(*m);
  }
}

void note_counts(Member& me) noexcept {
  std::uint64_t stolen = 0;
  for (auto const at_level : me.counts.stolen) stolen += at_level;
  me.told.made.store(me.made(), sync::relaxed);
  me.told.stolen.store(stolen, sync::relaxed);
}

void tell_counts(RunningLease& to, std::int64_t now_ns) noexcept {
  constexpr std::int64_t every_ns = 100'000'000;
  static constinit sync::atomic<std::int64_t> next_ns{0};
  if (now_ns < next_ns.load(sync::relaxed)) return;
  next_ns.store(now_ns + every_ns, sync::relaxed);
  std::uint64_t made = 0, stolen = 0;
  pthread_mutex_lock(&members_lock);
  for (Member const* m = all_members; m != nullptr; m = m->next) {
    made += m->told.made.load(sync::relaxed);
    stolen += m->told.stolen.load(sync::relaxed);
  }
  pthread_mutex_unlock(&members_lock);
  to.tell(made, stolen);
}

Counts counted() noexcept {
  Counts sum;
  pthread_mutex_lock(&members_lock);
  for (Member const* m = all_members; m != nullptr; m = m->next) {
    sum.made += m->made();
    sum.at_once += m->counts.at_once;
    for (std::size_t l = 0; l < Counts::levels; ++l) sum.stolen[l] += m->counts.stolen[l];
    sum.slept += m->counts.slept;
    sum.near += m->counts.near;
    sum.far += m->counts.far;
    sum.exchanged += m->counts.exchanged;
  }
  pthread_mutex_unlock(&members_lock);
  return sum;
}

void for_each_track(void (*see)(Track&, void* with), void* with) noexcept {
  pthread_mutex_lock(&members_lock);
  for (Member const* m = all_members; m != nullptr; m = m->next)
    if (m->track != nullptr) see(*m->track, with);
  pthread_mutex_unlock(&members_lock);
}

bool is_task(Task const& t) noexcept {
  bool found = false;
  pthread_mutex_lock(&members_lock);
  for (Member const* m = all_members; m != nullptr && !found; m = m->next) found = t.home == m;
  pthread_mutex_unlock(&members_lock);
  return found;
}

constexpr std::uint64_t event_mark = 0x6e6967682d657674;  // "nigh-evt"

void* event_of(Task& t) noexcept {
  auto& event = t.extra->event;
  event[0] = event_mark;
  event[1] = reinterpret_cast<std::uint64_t>(&t);
  return event;
}

// A runtime's own handle points to something at least as large, which begins otherwise.
Task* task_of_event(void* event) noexcept {
  std::uint64_t words[2];
  memcpy(words, event, sizeof words);
  if (words[0] != event_mark) return nullptr;
  auto* const t = reinterpret_cast<Task*>(words[1]);
  return t->extra->event == event ? t : nullptr;
}

}  // namespace nigh::openmp::tasks
