// SPDX-License-Identifier: Apache-2.0
#include "openmp/recycler.hpp"

#include <semaphore.h>
#include <stdlib.h>

#include "openmp/process.hpp"

namespace nigh::openmp {
namespace {

// Lives as long as its thread. All but the semaphore under the lock, or the thread's own while it
// is busy.
struct Recycled {
  void* (*body)(void*);
  void* argument;
  std::size_t stack_bytes;
  pthread_t thread;
  Recycled* next;
  sem_t has_work;
};

constexpr std::size_t most_idle = 1024;
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit Recycled* idle = nullptr;
constinit std::size_t idle_count = 0;

bool wait_for_work(Recycled& me) {
  pthread_mutex_lock(&lock);
  bool const stays = idle_count < most_idle;
  if (stays) {
    me.thread = pthread_self();
    me.next = idle;
    idle = &me;
    ++idle_count;
  }
  pthread_mutex_unlock(&lock);
  if (!stays) return false;
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

Recycled* take_idle(std::size_t stack_bytes) {
  pthread_mutex_lock(&lock);
  Recycled** at = &idle;
  while (*at != nullptr && (*at)->stack_bytes != stack_bytes) at = &(*at)->next;
  Recycled* const found = *at;
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
  *fresh = {body, argument, stack_bytes, {}, nullptr, {}};
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

}  // namespace nigh::openmp
