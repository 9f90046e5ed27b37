// SPDX-License-Identifier: Apache-2.0
// A thread that the shim has pinned sees the cpus that it would see without it: libgomp, libraries
// that are opened later, and the program itself count them to learn how many threads to make. A
// thread that chooses cpus itself is left alone from then on, until it is back on all of them
// (hwloc visits every cpu to look at a machine). So is a thread for which somebody else has chosen:
// a user with taskset, or another thread of the program. The shim sees it at the thread's cpus,
// which it reads before it sets others. Threads that a pinned one makes (recycler.cpp) and programs
// that it starts (preload/programs.cpp) begin on all cpus.

#include "openmp/thread.hpp"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/atomic.hpp"
#include "base/try_lock.hpp"
#include "openmp/own_cpus.hpp"
#include "openmp/process.hpp"
#include "preload/places.hpp"

namespace nigh::openmp {

constinit thread_local Thread this_thread{};

namespace {

// A child after vfork() has all of its parent's memory, and another number.
constinit pid_t process_number = 0;
__attribute__((constructor)) void note_process() { process_number = getpid(); }

pid_t number_of_me() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// The program's last calls that set cpus of other threads. Where it chose the cpu on which the shim
// had pinned the thread, the thread's cpus do not tell.
//
// (thread.C) A call is noted before it is made; a thread looks for calls after it has set its cpus.
// The kernel makes both settings under one lock: either the thread finds the note, and sets what
// the program wants, or the program's call comes last.
struct CallForOther {
  pid_t number;      // 0: by
  pthread_t thread;  // this
  cpu_set_t cpus;
};
constinit base::TryLock noting;
constinit std::array<CallForOther, 64> calls{};
constinit sync::atomic<std::uint32_t> call_count{0};

// A signal handler may have interrupted a thread that has the lock.
bool lock_calls() noexcept {
  for (int i = 0; i < 10'000; ++i)
    if (noting.try_lock()) return true;
  return false;
}

void note_call(CallForOther const& call) noexcept {
  if (!lock_calls()) return;
  auto const count = call_count.load(sync::relaxed);
  calls[count % calls.size()] = call;
  call_count.store(count + 1, sync::seq_cst);  // (thread.C)
  noting.unlock();
}

// The last cpus that a user has set for a thread that begins regions, and probably for all threads
// of the process (taskset -a): a thread that was pinned to the same ones is left alone, too.
//
// (thread.I) A thread that sees that there are such sees which. While they change, another thread
// may read some of both, and finds them to be none of its own.
constinit base::TryLock setting_imposed;
constinit sync::atomic<bool> has_imposed{false};
constinit cpu_set_t imposed{};

// Of each cpu, a thread that the shim has pinned to it: its number above, the cpu below. A user who
// sets the cpus of all threads (taskset -a) may choose those on which one is pinned; another one,
// elsewhere, tells then.
//
// (thread.W) A thread is not there while its cpus are being set. A thread that finds it there
// before and after it has read its cpus has read what the thread itself set last, or what somebody
// else has set since.
constinit std::array<sync::atomic<std::uint64_t>, 64> pinned_threads{};

std::uint64_t witness(Pinning pinning) noexcept {
  return static_cast<std::uint64_t>(number_of_me()) << 32U | (pinning - 1);
}

void stop_witness(Thread const& me) noexcept {
  if (me.pinning == unpinned || me.pinning > coordinator::max_cpus) return;
  auto mine = witness(me.pinning);
  auto& pinned = pinned_threads[(me.pinning - 1) % pinned_threads.size()];
  pinned.compare_exchange_strong(mine, 0, sync::seq_cst);  // (thread.W)
}

void begin_witness(Thread const& me) noexcept {
  if (me.pinning == unpinned || me.pinning > coordinator::max_cpus) return;
  auto& pinned = pinned_threads[(me.pinning - 1) % pinned_threads.size()];
  pinned.store(witness(me.pinning), sync::seq_cst);  // (thread.W)
}

// Whether a thread that the shim has pinned to another cpu has been set to these, too.
bool are_set_elsewhere(cpu_set_t const& cpus) noexcept {
  for (auto& pinned : pinned_threads) {
    auto const seen = pinned.load(sync::seq_cst);  // (thread.W)
    auto const cpu = static_cast<std::size_t>(seen & 0xffffffffU);
    if (seen == 0 || (CPU_ISSET(cpu, &cpus) && CPU_COUNT(&cpus) == 1)) continue;
    cpu_set_t there;
    bool const is_there = read_cpus(there, static_cast<pid_t>(seen >> 32U));
    if (pinned.load(sync::seq_cst) != seen) continue;  // (thread.W)
    if (is_there) return CPU_EQUAL(&there, &cpus) != 0;
    auto gone = seen;
    pinned.compare_exchange_strong(gone, 0, sync::relaxed);
  }
  return false;
}

void leave_alone(Thread& me) noexcept {
  me.pinning = unpinned;
  me.is_left_alone = true;
}

bool is_imposed(cpu_set_t const& cpus) noexcept {
  if (!has_imposed.load(sync::acquire)) return false;  // (thread.I)
  return CPU_EQUAL(&cpus, &imposed) != 0 && CPU_EQUAL(&cpus, &own_cpus().set) == 0;
}

void impose(cpu_set_t const& cpus) noexcept {
  if (is_imposed(cpus) || !setting_imposed.try_lock()) return;
  has_imposed.store(false, sync::relaxed);
  imposed = cpus;
  has_imposed.store(true, sync::release);  // (thread.I)
  setting_imposed.unlock();
}

// Of what the program has wanted for the calling thread since it was last asked, sets the last.
bool obeys_calls(Thread& me) noexcept {
  auto const count = call_count.load(sync::seq_cst);  // (thread.C)
  if (count == me.heard || !lock_calls()) return false;
  auto const most = static_cast<std::uint32_t>(calls.size());
  cpu_set_t wanted;
  bool is_found = false;
  for (auto i = count - std::min(count - me.heard, most); i != count; ++i) {
    auto const& call = calls[i % most];
    if (call.number == 0 ? pthread_equal(call.thread, pthread_self()) == 0
                         : call.number != number_of_me())
      continue;
    wanted = call.cpus;
    is_found = true;
  }
  me.heard = count;
  noting.unlock();
  cpu_set_t now;
  if (!is_found || !set_cpus(wanted) || !read_cpus(now)) return false;
  me.pinning = unpinned;
  me.is_left_alone = CPU_EQUAL(&now, &own_cpus().set) == 0;
  return me.is_left_alone;
}

// The thread is not where the shim has left it. Either its cpuset is another one, or a user frees
// it, or has set other cpus.
bool is_free_elsewhere(Thread& me, cpu_set_t const& now, cpu_set_t const& expected) noexcept {
  cpu_set_t cpuset, both;
  if (set_cpuset(cpuset)) {
    CPU_AND(&both, &expected, &cpuset);
    bool const is_smaller = CPU_EQUAL(&both, &now) && !CPU_EQUAL(&both, &expected);
    if (CPU_EQUAL(&now, &cpuset) || is_smaller) {
      renew_own_cpus(cpuset);
      me.pinning = unpinned;
      return true;
    }
    set_cpus(now);
  }
  if (!me.is_worker) impose(now);
  leave_alone(me);
  return false;
}

}  // namespace

bool may_place(Thread& me) noexcept {
  if (me.is_left_alone) return false;
  bool const is_pinned = me.pinning != unpinned;
  if (!is_pinned) me.heard = call_count.load(sync::seq_cst);  // (thread.C); its cpus tell
  if (is_pinned && obeys_calls(me)) return false;
  cpu_set_t now;
  if (!read_cpus(now)) return true;
  cpu_set_t const& expected = me.pinning != unpinned ? me.cpus : own_cpus().set;
  if (CPU_EQUAL(&now, &expected) == 0) return is_free_elsewhere(me, now, expected);
  if (!is_pinned) return true;
  if (CPU_EQUAL(&now, &own_cpus().set) != 0) return true;
  if (!is_imposed(now) && !are_set_elsewhere(now)) return true;
  impose(now);
  leave_alone(me);
  return false;
}

// A refusal is remembered like a success: it would be refused again at every region.
void place(Thread& me, Pinning to, cpu_set_t const& cpus) noexcept {
  stop_witness(me);
  if (!may_place(me)) return;
  me.pinning = to;
  me.cpus = cpus;
  if (!set_cpus(cpus)) read_cpus(me.cpus);
  if (!obeys_calls(me)) begin_witness(me);
}

void unpin(Thread& me) noexcept {
  if (me.pinning == unpinned) return;
  stop_witness(me);
  if (!may_place(me)) return;
  set_own_cpus();
  obeys_calls(me);
  me.pinning = unpinned;
}

void watch_cpus(Thread& me, std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t every_ns = 250'000'000;
  if (now_ns - me.looked_ns < every_ns) return;
  me.looked_ns = now_ns;
  stop_witness(me);
  if (!may_place(me)) return;
  cpu_set_t cpuset;
  if (may_gain_cpus() && set_cpuset(cpuset)) {
    renew_own_cpus(cpuset);
    if (me.pinning != unpinned) set_cpus(me.cpus);
    if (obeys_calls(me)) return;
  }
  begin_witness(me);
}

void drop_calls_for_others() noexcept {
  process_number = getpid();
  noting.reset();
  setting_imposed.reset();
  for (auto& pinned : pinned_threads) pinned.store(0, sync::relaxed);
}

}  // namespace nigh::openmp

namespace nigh::preload {

OnAllPlaces::OnAllPlaces() {
  auto const& me = openmp::this_thread;
  if (me.pinning == openmp::unpinned || !openmp::read_cpus(before_)) return;
  if (CPU_EQUAL(&before_, &me.cpus) == 0 || openmp::is_imposed(before_)) return;
  left_ = openmp::set_own_cpus();
}

OnAllPlaces::~OnAllPlaces() {
  if (left_) openmp::set_cpus(before_);
}

}  // namespace nigh::preload

namespace {

using namespace nigh::openmp;
using nigh::preload::Next;

constinit Next next_get{"sched_getaffinity"}, next_get_thread{"pthread_getaffinity_np"},
    next_set{"sched_setaffinity"}, next_set_thread{"pthread_setaffinity_np"};

bool is_me(pid_t thread) { return thread == 0 || thread == number_of_me(); }

// Not from a thread that has been set elsewhere since it was pinned.
void hide_place(std::size_t size, cpu_set_t* cpus) {
  cpu_set_t now;
  if (!read_cpus(now) || CPU_EQUAL(&now, &this_thread.cpus) == 0 || is_imposed(now)) return;
  memcpy(cpus, &own_cpus().set, size < sizeof(cpu_set_t) ? size : sizeof(cpu_set_t));
}

// Of another thread, which the shim has pinned to one cpu and nobody has set elsewhere.
void hide_place_of(pid_t thread, std::size_t size, cpu_set_t* cpus) {
  cpu_set_t now;
  if (!process().acts || !read_cpus(now, thread) || CPU_COUNT(&now) != 1) return;
  for (auto& pinned : pinned_threads) {
    auto const seen = pinned.load(nigh::sync::seq_cst);  // (thread.W)
    if (static_cast<pid_t>(seen >> 32U) != thread || CPU_ISSET(seen & 0xffffffffU, &now) == 0)
      continue;
    memcpy(cpus, &own_cpus().set, size < sizeof(cpu_set_t) ? size : sizeof(cpu_set_t));
  }
}

cpu_set_t chosen(std::size_t size, cpu_set_t const* cpus) {
  cpu_set_t copy;
  CPU_ZERO(&copy);
  memcpy(&copy, cpus, size < sizeof copy ? size : sizeof copy);
  return copy;
}

// The calling thread has set its own cpus.
void has_chosen() {
  if (getpid() != process_number) return;
  cpu_set_t now;
  stop_witness(this_thread);
  this_thread.pinning = unpinned;
  this_thread.is_left_alone = read_cpus(now) && CPU_EQUAL(&now, &own_cpus().set) == 0;
}

}  // namespace

NIGH_INTERPOSED int sched_getaffinity(pid_t thread, std::size_t size, cpu_set_t* cpus) noexcept {
  using Get = int(pid_t, std::size_t, cpu_set_t*);
  int const refused = reinterpret_cast<Get*>(next_get.address())(thread, size, cpus);
  if (refused != 0) return refused;
  if (!is_me(thread))
    hide_place_of(thread, size, cpus);
  else if (this_thread.pinning != unpinned)
    hide_place(size, cpus);
  return 0;
}

NIGH_INTERPOSED int pthread_getaffinity_np(pthread_t thread, std::size_t size,
                                           cpu_set_t* cpus) noexcept {
  using Get = int(pthread_t, std::size_t, cpu_set_t*);
  int const refused = reinterpret_cast<Get*>(next_get_thread.address())(thread, size, cpus);
  if (refused == 0 && this_thread.pinning != unpinned && pthread_equal(thread, pthread_self()) != 0)
    hide_place(size, cpus);
  return refused;
}

NIGH_INTERPOSED int sched_setaffinity(pid_t thread, std::size_t size,
                                      cpu_set_t const* cpus) noexcept {
  using Set = int(pid_t, std::size_t, cpu_set_t const*);
  bool const is_own = is_me(thread);
  if (!is_own && cpus != nullptr && process().acts) note_call({thread, {}, chosen(size, cpus)});
  int const refused = reinterpret_cast<Set*>(next_set.address())(thread, size, cpus);
  if (refused == 0 && is_own) has_chosen();
  return refused;
}

NIGH_INTERPOSED int pthread_setaffinity_np(pthread_t thread, std::size_t size,
                                           cpu_set_t const* cpus) noexcept {
  using Set = int(pthread_t, std::size_t, cpu_set_t const*);
  bool const is_own = pthread_equal(thread, pthread_self()) != 0;
  if (!is_own && process().acts) note_call({0, thread, chosen(size, cpus)});
  int const refused = reinterpret_cast<Set*>(next_set_thread.address())(thread, size, cpus);
  if (refused == 0 && is_own) has_chosen();
  return refused;
}
