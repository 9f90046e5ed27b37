/* SPDX-License-Identifier: Apache-2.0 */
/* A library with a thread pool of its own, as OpenBLAS has one: its threads come when it is loaded
   (with -DPER_CALL, as BLIS does it, with each call), end before a fork, and come again with the
   next call. SET and GET are the names of the functions for its size, POOL_THREADS in the
   environment is what it begins with. It aborts where these are called at a wrong moment. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int size, has_begun, is_busy, has_threads;

static void* wait(void* nothing) {
#ifndef PER_CALL
  for (;;) pause();
#endif
  return nothing;
}

static void make_threads(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&threads[i], NULL, wait, NULL) != 0) abort();
  for (int i = 0; i < 2; ++i)
#ifdef PER_CALL
    pthread_join(threads[i], NULL);
#else
    pthread_detach(threads[i]);
  has_threads = 1;
#endif
}

static void check(const char* function) {
  if (has_begun && !is_busy) return;
  fprintf(stderr, "%s at a wrong moment\n", function);
  abort();
}

void SET(long n);
int GET(void);
int work(void);

void SET(long n) {
  check("set");
#ifndef PER_CALL
  if (!has_threads) fprintf(stderr, "set makes threads\n");
#endif
  size = (int)n;
}

int GET(void) {
  check("get");
  return size;
}

/* Of how many threads it would have made use. */
int work(void) {
  is_busy = 1;
  if (!has_threads) make_threads();
  is_busy = 0;
  return size;
}

static void end_threads(void) { has_threads = 0; }

__attribute__((constructor)) static void begin(void) {
  const char* said = getenv("POOL_THREADS");
  is_busy = 1;
  pthread_atfork(end_threads, NULL, NULL);
#ifndef PER_CALL
  make_threads();
#endif
  size = said != NULL ? atoi(said) : 1;
  has_begun = 1;
  is_busy = 0;
}

__attribute__((destructor)) static void end(void) {
  has_begun = 0;
  close(-1);
}
