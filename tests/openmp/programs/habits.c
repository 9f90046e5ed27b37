/* SPDX-License-Identifier: Apache-2.0 */
/* habits WHAT [LIBRARY]: what programs may do, and a preloaded library must not mind. All of them run regions of two
   threads first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

static int calls;
#ifndef __clang__ /* libomp itself would call these */
/* ISO C leaves these names to programs. */
struct door;
int connect(struct door* a, struct door* b) { return a == b ? 0 : ++calls; }
int poll(struct door* a) { return a == NULL ? 0 : ++calls; }
int send(struct door* a) { return a == NULL ? 0 : ++calls; }
int recv(struct door* a) { return a == NULL ? 0 : ++calls; }
int shutdown(struct door* a) { return a == NULL ? 0 : ++calls; }
int socket(struct door* a) { return a == NULL ? 0 : ++calls; }
int fcntl(struct door* a) { return a == NULL ? 0 : ++calls; }
int mmap(struct door* a) { return a == NULL ? 0 : ++calls; }
#endif

static int regions(int count) {
  int sum = 0;
  for (int i = 0; i < count; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
      for (volatile int k = 0; k < 20000; k++) {
      }
      sum++;
    }
  }
  return sum;
}

static int cpus_of(pid_t thread) {
  cpu_set_t cpus;
  return sched_getaffinity(thread, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : -1;
}

static int c11_thread(void* unused) {
  (void)unused;
  printf("thrd_create: %d cpus\n", cpus_of(0));
  return 0;
}

static void* posix_thread(void* unused) {
  printf("pthread_create: %d cpus, main: %d\n", cpus_of(0), cpus_of(getpid()));
  return unused;
}

static void* with_region(void* unused) {
  printf("%d\n", regions(1));
  return unused;
}

static int on_small_stack(size_t bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, bytes) != 0) return 1;
  if (pthread_create(&thread, &attributes, with_region, NULL) != 0) return 1;
  return pthread_join(thread, NULL);
}

int mprotect(void* room, size_t bytes, int rights);  // its header has mmap()
static ucontext_t outside;
static int on_coroutine;
static void coroutine(void) { on_coroutine = regions(5); }

// Below its stack is nothing.
static int in_coroutine(size_t bytes) {
  static ucontext_t inside;
  size_t const page = (size_t)sysconf(_SC_PAGESIZE);
  char* const room = aligned_alloc(page, page + bytes);
  if (room == NULL || mprotect(room, page, 0) != 0) return 1;
  if (getcontext(&inside) != 0) return 1;
  inside.uc_stack.ss_sp = room + page;
  inside.uc_stack.ss_size = bytes;
  inside.uc_link = &outside;
  makecontext(&inside, coroutine, 0);
  if (swapcontext(&outside, &inside) != 0) return 1;
  printf("%d\n", on_coroutine);
  return 0;
}

static void nested(void) {
  omp_set_max_active_levels(2);
  for (int i = 0; i < 30; i++) {
#pragma omp parallel num_threads(2)
    { regions(1); }
  }
}

int main(int count, char** words) {
  char const* const what = count > 1 ? words[1] : "";
  if (strcmp(what, "small") == 0) return on_small_stack((size_t)atol(words[2]));
  if (strcmp(what, "coroutine") == 0) {
    if (count > 3) regions(1);  // the thread has a lease from then on
    return in_coroutine((size_t)atol(words[2]));
  }
  if (strcmp(what, "opens") == 0) {
    puts(dlopen(words[2], RTLD_NOW) != NULL ? "opened" : dlerror());
    return 0;
  }
  if (strcmp(what, "nested") == 0) {
    nested();
  } else {
    int changed = 0;
    for (int i = 0; i < 200; i++) {
      errno = 0;
      regions(1);
      changed += errno != 0;
    }
    printf("calls %d, errno changed %d times\n", calls, changed);
  }
  if (strcmp(what, "vfork") == 0) {
    if (vfork() == 0) {
      cpu_set_t first;
      sched_getaffinity(0, sizeof first, &first);
      for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &first) && seen++ > 0) CPU_CLR(cpu, &first);
      _exit(sched_setaffinity(0, sizeof first, &first));
    }
    regions(20);
    printf("after vfork: %d cpus\n", cpus_of(0));
  }
  if (strcmp(what, "threads") == 0) {
    thrd_t first;
    pthread_t second;
    if (thrd_create(&first, c11_thread, NULL) != thrd_success) return 1;
    thrd_join(first, NULL);
    if (pthread_create(&second, NULL, posix_thread, NULL) != 0) return 1;
    pthread_join(second, NULL);
  }
  fflush(stdout);
  if (strcmp(what, "nested") == 0 || strcmp(what, "exits") == 0) pthread_exit(NULL);
  return 0;
}
