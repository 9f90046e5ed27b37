// SPDX-License-Identifier: Apache-2.0
// A thread that the shim has pinned sees the cpus that it would see without it: libgomp, libraries
// that are opened later, and the program itself count them to learn how many threads to make. A
// thread that chooses cpus itself is left alone from then on, until it is back on all of them
// (hwloc visits every cpu to look at a machine). Threads that a pinned one makes (recycler.cpp) and
// programs that it starts (preload/programs.cpp) begin on all cpus.

#include "openmp/thread.hpp"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/places.hpp"

namespace nigh::openmp {

constinit thread_local Thread this_thread{};

void set_cpus(cpu_set_t const& cpus) noexcept {
  syscall(SYS_sched_setaffinity, 0, sizeof cpus, &cpus);
}

void unpin(Thread& me) noexcept {
  if (me.pinning == unpinned || me.is_left_alone) return;
  me.pinning = unpinned;
  set_cpus(own_cpus());
}

}  // namespace nigh::openmp

namespace nigh::preload {

OnAllPlaces::OnAllPlaces() {
  if (openmp::this_thread.pinning == openmp::unpinned) return;
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

constinit Next next_get{"sched_getaffinity"}, next_get_thread{"pthread_getaffinity_np"},
    next_set{"sched_setaffinity"}, next_set_thread{"pthread_setaffinity_np"};

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
  this_thread.pinning = unpinned;
  this_thread.is_left_alone = !CPU_EQUAL(&chosen, &own_cpus());
}

}  // namespace

NIGH_INTERPOSED int sched_getaffinity(pid_t thread, std::size_t size, cpu_set_t* cpus) noexcept {
  using Get = int(pid_t, std::size_t, cpu_set_t*);
  int const refused = reinterpret_cast<Get*>(next_get.address())(thread, size, cpus);
  if (refused == 0 && this_thread.pinning != unpinned && is_me(thread)) hide_place(size, cpus);
  return refused;
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
