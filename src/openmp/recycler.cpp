// SPDX-License-Identifier: Apache-2.0
#include "openmp/recycler.hpp"

#include <semaphore.h>
#include <stdlib.h>

#include <algorithm>

#include "base/atomic.hpp"
#include "openmp/kept_errno.hpp"
#include "openmp/pools.hpp"
#include "openmp/process.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/thread.hpp"
#include "openmp/waiting.hpp"
#include "platform/pause.hpp"
#include "preload/next.hpp"
#include "preload/places.hpp"

namespace nigh::openmp {
namespace {

// Of a thread of libgomp's, and as long as it lives in the list. All except the semaphore is under
// the lock, but its thread reads its work without: that is written before it is created or woken.
struct Recycled {
  enum State : std::uint8_t {
    busy,   // ends when its body returns
    kept,   // waits for work, or will when its body has returned
    called  // has been given work, or is to end
  };
  void* (*body)(void*);  // null: the thread ends
  void* argument;
  std::size_t stack_bytes;
  Runtime const* runtime;
  std::uint64_t leader;  // Thread::pool_leader; 0: a member of nested teams
  std::uint32_t number;  // in the leader's team
  State state;
  pthread_t thread;
  Pinning pinning;
  Recycled* next;
  sem_t has_work;
};

constexpr std::size_t most_kept = 1024;
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit Recycled* all = nullptr;
constinit std::size_t kept_count = 0;
constinit sync::atomic<std::uint64_t> leaders{0};

class Locked {
 public:
  Locked() { pthread_mutex_lock(&lock); }
  ~Locked() { pthread_mutex_unlock(&lock); }
  Locked(Locked&&) = delete;
  Locked& operator=(Locked&&) = delete;
};

// ---- under the lock

void keep(Recycled& r) {
  if (r.state != Recycled::busy || kept_count == most_kept) return;
  r.state = Recycled::kept;
  ++kept_count;
}

void call(Recycled& r, void* (*body)(void*), void* argument) {
  r.state = Recycled::called;
  --kept_count;
  r.body = body;
  r.argument = argument;
  sem_post(&r.has_work);
}

void send_home(Recycled& r) { call(r, nullptr, nullptr); }

// ---- the thread itself

// A member sleeps when its leader has ended a region, and is woken for the next one, which comes at
// once: on a cpu of its own it first waits awake for a while, as OpenMP's threads do.
bool has_work_soon(Recycled& me) {
  constexpr int looks = 2000;  // at 10 to 50 ns: up to 100 us
  bool const has_cpu = me.pinning != unpinned && me.pinning <= coordinator::max_cpus;
  if (!process().waits_awake || !has_cpu) return false;
  for (int i = 0; i < looks; ++i) {
    if (sem_trywait(&me.has_work) == 0) return true;
    sync::pause();
  }
  return false;
}

// The body finds the errno that it left.
bool wait_for_work(Recycled& me) {
  KeptErrno const kept;
  {
    Locked const locked;
    if (me.leader == 0) keep(me);
    if (me.state == Recycled::busy) return false;
    me.pinning = this_thread.pinning;
  }
  if (!has_work_soon(me))
    while (sem_wait(&me.has_work) != 0) {
    }
  Locked const locked;
  me.state = Recycled::busy;
  return me.body != nullptr;
}

extern "C" void forget(void* p) {
  auto* const me = static_cast<Recycled*>(p);
  {
    Locked const locked;
    if (me->state == Recycled::kept) --kept_count;  // its leader ends, and it with its leader
    Recycled** at = &all;
    while (*at != nullptr && *at != me) at = &(*at)->next;
    if (*at == nullptr) return;  // the parent's, before fork()
    *at = me->next;
  }
  sem_destroy(&me->has_work);
  free(me);
}

extern "C" void* run_again_and_again(void* p) {
  auto* const me = static_cast<Recycled*>(p);
  me->thread = pthread_self();
  void* result = nullptr;
  pthread_cleanup_push(forget,
                       me);  // libgomp ends the threads of an ending leader by pthread_exit()
  do {
    result = me->body(me->argument);
  } while (wait_for_work(*me));
  pthread_cleanup_pop(1);
  return result;
}

// ---- threads that make others

// Where the thread that is made next should be pinned; unpinned: unknown.
Pinning next_pinning() {
  Team const* const team = this_thread.forming;
  if (team == nullptr || team->is_shared) return unpinned;
  auto const number = ++this_thread.formed;  // libgomp makes them in this order
  return number < team->size ? 1 + Pinning{team->cpus[number]} : unpinned;
}

// The position of the thread that is made next: in a team inside another region for which nigh has
// chosen the size, or in that of an outermost region of nigh's.
struct Place {
  bool is_nested = false;
  bool is_pooled = false;
  std::uint32_t number = 0;  // of a pooled one
  Pinning pinning = unpinned;
};

Place next_place(Runtime const& runtime) {
  Thread& me = this_thread;
  if (me.forming != nullptr) return {.is_nested = true, .pinning = next_pinning()};
  bool const is_outermost = me.is_inside && me.team != nullptr && me.team->leader == &me &&
                            me.team->level == 0 && !me.is_left_alone;
  if (!is_outermost) return {};
  if (me.pool_leader == 0) me.pool_leader = 1 + leaders.fetch_add(1, sync::relaxed);
  auto& pool = me.pools[runtime.number];
  if (pool.threads == 0) pool.threads = 1;  // the leader
  return {.is_pooled = true, .number = pool.threads++};
}

// A waiting thread that was this one before, with all that is thread-private; of nested teams one
// on the same cpu, if there is one: moving takes longer than all else.
Recycled* find_kept(Runtime const& runtime, Place const& place, std::size_t stack_bytes) {
  Recycled* found = nullptr;
  std::uint64_t const leader = place.is_nested ? 0 : this_thread.pool_leader;
  for (Recycled* r = all; r != nullptr; r = r->next) {
    if (r->state != Recycled::kept || r->leader != leader || r->runtime != &runtime ||
        r->stack_bytes != stack_bytes)
      continue;
    if (!place.is_nested && r->number != place.number) continue;
    if (found == nullptr) found = r;
    if (place.pinning == unpinned || !place.is_nested) break;
    if (r->pinning != place.pinning) continue;
    return r;
  }
  return found;
}

}  // namespace

int create_recycled(Runtime const& runtime, Create* create, pthread_t* thread,
                    pthread_attr_t const* attributes, void* (*body)(void*),
                    void* argument) noexcept {
  if (Ballast* const b = this_thread.ballast;
      b != nullptr && take_ballast(*b, thread, body, argument))
    return 0;
  std::size_t stack_bytes = 0;
  if (!process().acts ||
      (attributes != nullptr && pthread_attr_getstacksize(attributes, &stack_bytes) != 0))
    return create(thread, attributes, body, argument);
  Place const place = next_place(runtime);
  if (!place.is_nested && !place.is_pooled) return create(thread, attributes, body, argument);
  {
    Locked const locked;
    if (Recycled* const found = find_kept(runtime, place, stack_bytes); found != nullptr) {
      *thread = found->thread;
      call(*found, body, argument);
      return 0;
    }
  }
  auto* const fresh = static_cast<Recycled*>(malloc(sizeof(Recycled)));
  if (fresh == nullptr) return create(thread, attributes, body, argument);
  *fresh = {body,
            argument,
            stack_bytes,
            &runtime,
            place.is_nested ? 0 : this_thread.pool_leader,
            place.number,
            Recycled::busy,
            {},
            unpinned,
            nullptr,
            {}};
  if (sem_init(&fresh->has_work, 0, 0) != 0) {
    free(fresh);
    return create(thread, attributes, body, argument);
  }
  {
    Locked const locked;
    fresh->next = all;
    all = fresh;
  }
  preload::OnAllPlaces const here;
  int const refused = create(thread, attributes, run_again_and_again, fresh);
  if (refused != 0) forget(fresh);
  return refused;
}

void change_pool(Thread& me, Runtime const& runtime, std::uint32_t asked,
                 std::uint32_t given) noexcept {
  auto& pool = me.pools[runtime.number];
  std::uint32_t const kept_below = given > asked ? UINT32_MAX : asked;
  pool.kept_below = 0;
  Locked const locked;
  for (Recycled* r = all; r != nullptr; r = r->next) {
    if (r->leader != me.pool_leader || r->runtime != &runtime || r->number < given) continue;
    if (r->number >= kept_below) {
      if (r->state == Recycled::kept) send_home(*r);
      continue;
    }
    keep(*r);
    pool.kept_below = std::max(pool.kept_below, r->number + 1);
  }
  pool.threads = std::min(pool.threads, given);
}

void end_pools(Thread& me) noexcept {
  if (me.pool_leader == 0) return;
  Locked const locked;
  for (Recycled* r = all; r != nullptr; r = r->next)
    if (r->leader == me.pool_leader && r->state == Recycled::kept) send_home(*r);
}

void end_kept_members() noexcept {
  Locked const locked;
  for (Recycled* r = all; r != nullptr; r = r->next)
    if (r->leader == 0 && r->state == Recycled::kept) send_home(*r);
}

void drop_recycled() noexcept {
  lock = PTHREAD_MUTEX_INITIALIZER;
  all = nullptr;
  kept_count = 0;
  for (auto& pool : this_thread.pools) pool = {};
  this_thread.pool_leader = 0;
}

}  // namespace nigh::openmp

namespace {

constinit nigh::preload::Next next_create{"pthread_create"};

// Later another thread may be in dlopen(), whose constructors wait for a thread that is made.
__attribute__((constructor)) void look_up() { static_cast<void>(next_create.address()); }

}  // namespace

NIGH_INTERPOSED int pthread_create(pthread_t* thread, pthread_attr_t const* attributes,
                                   void* (*body)(void*), void* argument) {
  auto const create = reinterpret_cast<nigh::openmp::Create*>(next_create.address());
  if (create == nullptr) return 11;  // EAGAIN: there is no libc to make threads
  nigh::openmp::Runtime const* const runtime =
      nigh::openmp::runtime_of(__builtin_return_address(0));
  if (runtime == nullptr) nigh::openmp::thread_is_made(__builtin_return_address(0));
  // A runtime's threads are placed when they join a region. libomp keeps its own.
  if (runtime == nullptr || runtime->global_thread_num != nullptr) {
    nigh::preload::OnAllPlaces const here;
    return create(thread, attributes, body, argument);
  }
  return nigh::openmp::create_recycled(*runtime, create, thread, attributes, body, argument);
}
