// SPDX-License-Identifier: Apache-2.0
// nigh-places.so, preloaded by `nigh run`: gives the threads of a program their places, as
// NIGH_PLACES lists them, when no runtime does so.
//
//   whose thread                         what happens
//   -----------------------------------  -----------------------------------------------------
//   of libgomp, libomp, libnigh          counted; it gets its place from its own runtime
//   of an MPI library                    may run on all places, as if it were not there: it mostly
//                                        sleeps, and would take a worker's place
//   of a Java virtual machine            counted; most of them collect garbage and compile
//   with an affinity in its attributes   counted; its creator knows better
//   any other: pthreads, C++, oneTBB     pinned to the place with the fewest threads, the first
//                                        of several
//   the main thread                      takes the first place when the first other thread is made
//
// Programs read masks to learn how many cpus there are, and are shown all places (masks.cpp). In a
// child after fork() nothing is pinned, and its thread may run on all places again: otherwise
// several children would sit on the same cpus. A program that a thread starts (programs.cpp) also
// begins with all places.
//
// The library lives in programs that are not ours: on any doubt it passes the call through; it
// links to nothing but libc, throws nothing, and allocates only a few words for each thread.

#include "preload/places.hpp"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>

#include "base/atomic.hpp"
#include "platform/loaded_objects.hpp"

namespace {

namespace sync = nigh::sync;

using nigh::preload::read_mask, nigh::preload::read_mask_of, nigh::preload::set_mask,
    nigh::preload::set_mask_of;

using Create = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);

constexpr int most_places = 1024;
constexpr int no_place = -1;

// Written once, before there is any other thread; then read-only, except the counts.
struct State {
  cpu_set_t places[most_places];
  cpu_set_t all;
  sync::atomic<int> threads_on[most_places];
  int count = 0;  // of places; 0: does nothing
  pthread_key_t at_end;
  sync::atomic<bool> main_was_asked{false};
  sync::atomic<bool> main_is_placed{false};
  sync::atomic<bool> forked{false};
  pthread_t main_thread;
  pid_t process = 0;
};
constinit State state{};  // by the loader: the constructor below must not come before ours

// The start of a thread.
struct Start {
  void* (*body)(void*);
  void* argument;
  int place;
  bool pinned;  // by us; otherwise only counted, until it ends
};

int read_number(char const*& text) {
  if (*text < '0' || *text > '9') return -1;
  int n = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    if (n <= CPU_SETSIZE) n = n * 10 + (*text - '0');
  return n < CPU_SETSIZE ? n : -1;
}

// "{0},{2,3}", as `nigh run` writes it. No places when it is anything else.
int read_places(char const* text) {
  int count = 0;
  while (*text == '{' && count < most_places) {
    ++text;
    CPU_ZERO(&state.places[count]);
    for (;; ++text) {
      int const cpu = read_number(text);
      if (cpu < 0) return 0;
      CPU_SET(static_cast<unsigned>(cpu), &state.places[count]);
      if (*text != ',') break;
    }
    if (*text++ != '}') return 0;
    CPU_OR(&state.all, &state.all, &state.places[count]);
    ++count;
    if (*text == '\0') return count;
    if (*text++ != ',') return 0;
  }
  return 0;
}

// Not getpid(), which a program may define.
pid_t this_process() { return static_cast<pid_t>(syscall(SYS_getpid)); }

// The place with the fewest threads; it counts one more from now on.
int take_place() {
  int best = 0;
  for (int p = 1; p < state.count; ++p)
    if (state.threads_on[p].load(sync::relaxed) < state.threads_on[best].load(sync::relaxed))
      best = p;
  state.threads_on[best].fetch_add(1, sync::relaxed);
  return best;
}

void leave_place(int place) { state.threads_on[place].fetch_sub(1, sync::relaxed); }

// A thread's record until it ends: its place and whether we put it there, never null.
void* mark_of(Start const& start) {
  auto const number = static_cast<long>(start.place) + 1;
  return reinterpret_cast<void*>(start.pinned ? number : -number);
}

extern "C" void thread_ended(void* mark) {
  auto const number = reinterpret_cast<long>(mark);
  leave_place(static_cast<int>(number > 0 ? number : -number) - 1);
}

extern "C" void* run_in_place(void* p) {
  Start const start = *static_cast<Start*>(p);
  free(p);
  if (start.pinned) set_mask(state.places[start.place]);
  pthread_setspecific(state.at_end, mark_of(start));
  return start.body(start.argument);
}

void place_main_thread() {
  if (state.main_was_asked.exchange(true, sync::relaxed)) return;
  // A program that has moved its main thread elsewhere meant to.
  cpu_set_t now;
  if (!read_mask_of(state.main_thread, now)) return;
  if (CPU_EQUAL(&now, &state.all) && set_mask_of(state.main_thread, state.places[0]))
    state.main_is_placed.store(true, sync::relaxed);
}

enum class Owner { runtime, mpi, program };

// The library that the thread's code belongs to.
Owner owner_of(void const* code) {
  char const* const file = nigh::platform::find_object(code).file;
  if (file == nullptr) return Owner::program;
  char const* const slash = strrchr(file, '/');
  char const* const name = slash != nullptr ? slash + 1 : file;
  for (char const* runtime : {"libgomp.so", "libgomp-", "libomp.so", "libomp-", "libiomp5.so",
                              "libnigh.so", "libjli.so", "libjvm.so"})
    if (strncmp(name, runtime, strlen(runtime)) == 0) return Owner::runtime;
  // Open MPI, its parts and its plugins; MPICH and Intel MPI; the libraries they send with.
  for (char const* mpi : {"libmpi.so", "libopen-pal.so", "libopen-rte.so", "libpmix.so", "mca_",
                          "libmpich.so", "libucs.so", "libuct.so", "libucp.so", "libfabric.so"})
    if (strncmp(name, mpi, strlen(mpi)) == 0) return Owner::mpi;
  return Owner::program;
}

bool has_affinity(pthread_attr_t const* attributes) {
  if (attributes == nullptr) return false;
  cpu_set_t asked;
  if (pthread_attr_getaffinity_np(attributes, sizeof asked, &asked) != 0) return false;
  // Where no mask was set, glibc answers with every bit.
  return CPU_COUNT(&asked) < CPU_SETSIZE;
}

constinit nigh::preload::Next next_create{"pthread_create"};

// The place where we put the calling thread.
int own_place() {
  auto const number = reinterpret_cast<long>(pthread_getspecific(state.at_end));
  if (number != 0) return number > 0 ? static_cast<int>(number) - 1 : no_place;
  bool const is_main = pthread_equal(pthread_self(), state.main_thread) != 0;
  return is_main && state.main_is_placed.load(sync::relaxed) ? 0 : no_place;
}

extern "C" void in_child() {
  state.forked.store(true, sync::relaxed);
  cpu_set_t now;
  if (!read_mask(now)) return;
  // Unless other code bound it to something that is none of our places.
  for (int p = 0; p < state.count; ++p)
    if (CPU_EQUAL(&now, &state.places[p])) {
      set_mask(state.all);
      return;
    }
}

__attribute__((constructor)) void begin() {
  static_cast<void>(next_create.address());  // later another thread may be in dlopen()
  char const* const text = getenv("NIGH_PLACES");
  if (text == nullptr) return;
  int const count = read_places(text);
  // Something in between, taskset perhaps, may have left us other cpus than those.
  cpu_set_t now;
  if (count == 0 || !read_mask(now)) return;
  cpu_set_t both;
  CPU_AND(&both, &now, &state.all);
  if (!CPU_EQUAL(&both, &state.all)) return;
  if (pthread_key_create(&state.at_end, thread_ended) != 0) return;
  if (pthread_atfork(nullptr, nullptr, in_child) != 0) return;
  state.main_thread = pthread_self();
  state.process = this_process();
  state.threads_on[0].store(1, sync::relaxed);
  state.count = count;
}

}  // namespace

namespace nigh::preload {

OnAllPlaces::OnAllPlaces() {
  if (state.count == 0 || state.forked.load(sync::relaxed)) return;
  int const place = own_place();
  if (place == no_place || !read_mask(before_)) return;
  if (!CPU_EQUAL(&before_, &state.places[place])) return;
  left_ = set_mask(state.all);
}

OnAllPlaces::~OnAllPlaces() {
  if (left_) set_mask(before_);
}

cpu_set_t const* place_of(pid_t thread) noexcept {
  if (state.count == 0) return nullptr;
  bool const is_me = thread == 0 || thread == static_cast<pid_t>(syscall(SYS_gettid));
  if (!is_me && thread != this_process()) return nullptr;
  return place_of_thread(is_me ? pthread_self() : state.main_thread);
}

cpu_set_t const* place_of_thread(pthread_t thread) noexcept {
  if (state.count == 0 || state.forked.load(sync::relaxed)) return nullptr;
  int place = no_place;
  if (pthread_equal(thread, pthread_self()) != 0)
    place = own_place();
  else if (pthread_equal(thread, state.main_thread) != 0 &&
           state.main_is_placed.load(sync::relaxed))
    place = 0;
  return place == no_place ? nullptr : &state.places[place];
}

void forget_place_of(pid_t thread) noexcept {
  if (thread == 0 || thread == static_cast<pid_t>(syscall(SYS_gettid)))
    forget_place_of_thread(pthread_self());
  else if (thread == this_process())
    forget_place_of_thread(state.main_thread);
}

void forget_place_of_thread(pthread_t thread) noexcept {
  if (state.count == 0 || state.forked.load(sync::relaxed)) return;
  if (this_process() != state.process) return;  // a child after vfork(), which has this memory
  if (pthread_equal(thread, state.main_thread) != 0) {
    state.main_is_placed.store(false, sync::relaxed);
  } else if (pthread_equal(thread, pthread_self()) != 0) {
    auto const number = reinterpret_cast<long>(pthread_getspecific(state.at_end));
    if (number > 0) pthread_setspecific(state.at_end, reinterpret_cast<void*>(-number));
  }
}

cpu_set_t const* all_places() noexcept { return &state.all; }

}  // namespace nigh::preload

extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, pthread_attr_t const* attributes, void* (*body)(void*), void* argument) {
  auto const create = reinterpret_cast<Create>(next_create.address());
  if (create == nullptr) return 11;  // EAGAIN: there is no libc to make threads
  if (state.count == 0 || state.forked.load(sync::relaxed))
    return create(thread, attributes, body, argument);
  auto const owner = owner_of(__builtin_return_address(0));
  if (owner == Owner::mpi) {
    nigh::preload::OnAllPlaces const inherited;
    return create(thread, attributes, body, argument);
  }
  bool const pinned = owner == Owner::program && !has_affinity(attributes);
  auto* const start = static_cast<Start*>(malloc(sizeof(Start)));
  if (start == nullptr) return create(thread, attributes, body, argument);
  if (pinned) place_main_thread();
  *start = {body, argument, take_place(), pinned};
  int const place = start->place;
  int const refused = create(thread, attributes, run_in_place, start);
  if (refused != 0) {
    leave_place(place);
    free(start);
  }
  return refused;
}
