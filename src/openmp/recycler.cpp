// SPDX-License-Identifier: Apache-2.0
#include "openmp/recycler.hpp"

#include <semaphore.h>
#include <stdlib.h>

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

// Lives as long as its thread. All except the semaphore is under the lock, or the thread's own
// while it is busy.
struct Recycled {
  void* (*body)(void*);
  void* argument;
  std::size_t stack_bytes;
  pthread_t thread;
  Pinning pinning;
  Recycled* next;
  sem_t has_work;
};

constexpr std::size_t most_idle = 1024;
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit Recycled* idle = nullptr;
constinit std::size_t idle_count = 0;

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

bool wait_for_work(Recycled& me) {
  pthread_mutex_lock(&lock);
  bool const stays = idle_count < most_idle;
  if (stays) {
    me.thread = pthread_self();
    me.pinning = this_thread.pinning;
    me.next = idle;
    idle = &me;
    ++idle_count;
  }
  pthread_mutex_unlock(&lock);
  if (!stays) return false;
  if (has_work_soon(me)) return true;
  while (sem_wait(&me.has_work) != 0) {
  }
  return true;
}

extern "C" void* run_again_and_again(void* p) {
  auto* const me = static_cast<Recycled*>(p);
  void* result = nullptr;
  do {
    result = me->body(me->argument);
  } while (wait_for_work(*me));
  sem_destroy(&me->has_work);
  free(me);
  return result;
}

// Where the thread that is made next should be pinned; unpinned: unknown.
Pinning next_pinning() {
  Team const* const team = this_thread.forming;
  if (team == nullptr || team->is_shared) return unpinned;
  auto const number = ++this_thread.formed;  // libgomp makes them in this order
  return number < team->size ? 1 + Pinning{team->cpus[number]} : unpinned;
}

// A waiting thread on that cpu, if there is one: moving takes longer than all else.
Recycled* take_idle(std::size_t stack_bytes) {
  Pinning const pinning = next_pinning();
  pthread_mutex_lock(&lock);
  Recycled** at = nullptr;
  for (Recycled** r = &idle; *r != nullptr; r = &(*r)->next) {
    if ((*r)->stack_bytes != stack_bytes) continue;
    if (at == nullptr) at = r;
    if (pinning == unpinned) break;
    if ((*r)->pinning != pinning) continue;
    at = r;
    break;
  }
  Recycled* const found = at == nullptr ? nullptr : *at;
  if (found != nullptr) {
    *at = found->next;
    --idle_count;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

}  // namespace

int create_recycled(Create* create, pthread_t* thread, pthread_attr_t const* attributes,
                    void* (*body)(void*), void* argument) noexcept {
  if (Ballast* const b = this_thread.ballast;
      b != nullptr && take_ballast(*b, thread, body, argument))
    return 0;
  std::size_t stack_bytes = 0;
  if (!process().acts ||
      (attributes != nullptr && pthread_attr_getstacksize(attributes, &stack_bytes) != 0))
    return create(thread, attributes, body, argument);
  if (Recycled* const found = take_idle(stack_bytes); found != nullptr) {
    found->body = body;
    found->argument = argument;
    *thread = found->thread;
    sem_post(&found->has_work);
    return 0;
  }
  auto* const fresh = static_cast<Recycled*>(malloc(sizeof(Recycled)));
  if (fresh == nullptr) return create(thread, attributes, body, argument);
  *fresh = {body, argument, stack_bytes, {}, unpinned, nullptr, {}};
  if (sem_init(&fresh->has_work, 0, 0) != 0) {
    free(fresh);
    return create(thread, attributes, body, argument);
  }
  int const refused = create(thread, attributes, run_again_and_again, fresh);
  if (refused != 0) {
    sem_destroy(&fresh->has_work);
    free(fresh);
  }
  return refused;
}

void drop_recycled() noexcept {
  lock = PTHREAD_MUTEX_INITIALIZER;
  idle = nullptr;
  idle_count = 0;
}

}  // namespace nigh::openmp

namespace {
constinit nigh::preload::Next next_create{"pthread_create"};
}  // namespace

NIGH_INTERPOSED int pthread_create(pthread_t* thread, pthread_attr_t const* attributes,
                                   void* (*body)(void*), void* argument) {
  auto const create = reinterpret_cast<nigh::openmp::Create*>(next_create.address());
  if (create == nullptr) return 11;  // EAGAIN: there is no libc to make threads
  nigh::openmp::Runtime const* const runtime =
      nigh::openmp::runtime_of(__builtin_return_address(0));
  if (runtime == nullptr) {
    nigh::openmp::thread_is_made(__builtin_return_address(0));
    nigh::preload::OnAllPlaces const here;
    return create(thread, attributes, body, argument);
  }
  // A runtime's threads are placed when they join a region. libomp keeps its own.
  if (runtime->global_thread_num != nullptr) return create(thread, attributes, body, argument);
  return nigh::openmp::create_recycled(create, thread, attributes, body, argument);
}
