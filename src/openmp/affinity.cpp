// SPDX-License-Identifier: Apache-2.0
// A thread that the shim has placed sees the cpus that it would see without it: libgomp, libraries
// that are opened later, and the program itself count them to learn how many threads to make. One
// that chooses cpus itself is left alone from then on, until it is back on all of them: hwloc
// visits every cpu to look at a machine. What it starts (threads here, programs in
// preload/programs.cpp) begins on all cpus.

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "openmp/pool_sizes.hpp"
#include "openmp/recycler.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/thread.hpp"
#include "preload/places.hpp"

namespace nigh::preload {

OnAllPlaces::OnAllPlaces() {
  if (openmp::this_thread.place == openmp::anywhere) return;
  if (syscall(SYS_sched_getaffinity, 0, sizeof before_, &before_) < 0) return;
  openmp::set_cpus(openmp::own_cpus());
  left_ = true;
}

OnAllPlaces::~OnAllPlaces() {
  if (left_) openmp::set_cpus(before_);
}

}  // namespace nigh::preload

namespace {

using namespace nigh::openmp;
using nigh::preload::Next;
using nigh::preload::OnAllPlaces;

constinit Next next_get{"sched_getaffinity"}, next_get_thread{"pthread_getaffinity_np"},
    next_set{"sched_setaffinity"}, next_set_thread{"pthread_setaffinity_np"},
    next_create{"pthread_create"};

bool is_me(pid_t thread) {
  return thread == 0 || thread == static_cast<pid_t>(syscall(SYS_gettid));
}

void hide_place(std::size_t size, cpu_set_t* cpus) {
  memcpy(cpus, &own_cpus(), size < sizeof(cpu_set_t) ? size : sizeof(cpu_set_t));
}

void chose(std::size_t size, cpu_set_t const* cpus) {
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  memcpy(&chosen, cpus, size < sizeof chosen ? size : sizeof chosen);
  this_thread.place = anywhere;
  this_thread.is_left_alone = !CPU_EQUAL(&chosen, &own_cpus());
}

}  // namespace

NIGH_INTERPOSED int sched_getaffinity(pid_t thread, std::size_t size, cpu_set_t* cpus) noexcept {
  using Get = int(pid_t, std::size_t, cpu_set_t*);
  int const refused = reinterpret_cast<Get*>(next_get.address())(thread, size, cpus);
  if (refused == 0 && this_thread.place != anywhere && is_me(thread)) hide_place(size, cpus);
  return refused;
}

NIGH_INTERPOSED int pthread_getaffinity_np(pthread_t thread, std::size_t size,
                                           cpu_set_t* cpus) noexcept {
  using Get = int(pthread_t, std::size_t, cpu_set_t*);
  int const refused = reinterpret_cast<Get*>(next_get_thread.address())(thread, size, cpus);
  if (refused == 0 && this_thread.place != anywhere && pthread_equal(thread, pthread_self()) != 0)
    hide_place(size, cpus);
  return refused;
}

NIGH_INTERPOSED int sched_setaffinity(pid_t thread, std::size_t size,
                                      cpu_set_t const* cpus) noexcept {
  using Set = int(pid_t, std::size_t, cpu_set_t const*);
  int const refused = reinterpret_cast<Set*>(next_set.address())(thread, size, cpus);
  if (refused == 0 && is_me(thread)) chose(size, cpus);
  return refused;
}

NIGH_INTERPOSED int pthread_setaffinity_np(pthread_t thread, std::size_t size,
                                           cpu_set_t const* cpus) noexcept {
  using Set = int(pthread_t, std::size_t, cpu_set_t const*);
  int const refused = reinterpret_cast<Set*>(next_set_thread.address())(thread, size, cpus);
  if (refused == 0 && pthread_equal(thread, pthread_self()) != 0) chose(size, cpus);
  return refused;
}

NIGH_INTERPOSED int pthread_create(pthread_t* thread, pthread_attr_t const* attributes,
                                   void* (*body)(void*), void* argument) {
  auto const create = reinterpret_cast<Create*>(next_create.address());
  if (create == nullptr) return 11;  // EAGAIN: there is no libc to make threads
  Runtime const* const runtime = runtime_of(__builtin_return_address(0));
  if (runtime == nullptr) {
    thread_is_made(__builtin_return_address(0));
    OnAllPlaces const here;
    return create(thread, attributes, body, argument);
  }
  // A runtime's threads are placed when they join a region. libomp keeps its own.
  if (runtime->global_thread_num != nullptr) return create(thread, attributes, body, argument);
  return create_recycled(create, thread, attributes, body, argument);
}
