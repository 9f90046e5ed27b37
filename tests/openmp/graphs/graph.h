// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parts of the task graphs that generate.py writes. A graph ends in a checksum that no legal schedule
// changes: what tasks add up is commutative, and what depends on an order is folded in that order. The
// same source without OpenMP is a sequential program with the same checksum.
//
// believe() checks rules of OpenMP that a checksum cannot show, and counts what was not so.

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#else
typedef uintptr_t omp_event_handle_t;
typedef int omp_depend_t;
typedef int omp_lock_t;
static inline void omp_fulfill_event(omp_event_handle_t event) { (void)event; }
static inline void omp_init_lock(omp_lock_t* lock) { *lock = 0; }
static inline void omp_set_lock(omp_lock_t* lock) { *lock = 1; }
static inline void omp_unset_lock(omp_lock_t* lock) { *lock = 0; }
static inline void omp_set_max_active_levels(int levels) { (void)levels; }
static int serial_threads = 1;
static inline void omp_set_num_threads(int threads) { serial_threads = threads; }
static inline int omp_get_max_threads(void) { return serial_threads; }
#endif

// gcc has inoutset and omp_all_memory from 13 on. Both replacements order at least as much.
#if defined(__clang__) || !defined(_OPENMP) || __GNUC__ >= 13
#define INOUTSET inoutset
#define OUT_ALL(cells, count) out : omp_all_memory
#else
#define INOUTSET mutexinoutset
#define OUT_ALL(cells, count) iterator(every = 0 : count), out : cells[every]
#endif

typedef uint64_t Word;

static inline Word mix(Word a, Word b) {
  a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
  a *= 0xff51afd7ed558ccdu;
  return a ^ (a >> 33);
}

static inline void add(Word* sum, Word value) { __atomic_fetch_add(sum, value, __ATOMIC_RELAXED); }

static inline void burn(unsigned turns) {
  for (unsigned volatile n = 0; n < turns; n = n + 1) {
  }
}

// Words for the tasks of one graph, zero at first. They outlive every task, so that a task may end
// before its children do.
enum { memory_words = 1 << 20 };
static Word memory[memory_words];
static Word memory_used;

static Word* words(Word count) {
  Word const first = __atomic_fetch_add(&memory_used, count, __ATOMIC_RELAXED);
  if (first + count > memory_words) {
    fprintf(stderr, "graph: out of memory\n");
    abort();
  }
  return memory + first;
}

static int wrong, first_wrong_line;

static void believe_at(int so, int line) {
  if (so) return;
  if (__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED) == 0)
    __atomic_store_n(&first_wrong_line, line, __ATOMIC_RELAXED);
}
#define believe(so) believe_at(so, __LINE__)

// A task that has begun. `constrained` graphs have no untied task; there, a thread that has a suspended
// tied task begins descendants of that task only.
struct scope {
  struct scope const* parent;
  struct scope const* below;  // suspended on the same thread
  int const* thread;
  int tied;
};
static __thread struct scope const* suspended;
static __thread int this_thread;

static struct scope const* enter(struct scope const* parent, int tied, int constrained, int final) {
  struct scope* const me = (struct scope*)words(sizeof(struct scope) / sizeof(Word));
  me->parent = parent;
  me->thread = &this_thread;
  me->tied = tied;
  me->below = suspended;
  if (tied && constrained && suspended) {
    struct scope const* above = parent;
    while (above && above != suspended) above = above->parent;
    believe(above == suspended);
  }
  if (tied) suspended = me;
#ifdef _OPENMP
  believe(final < 0 || omp_in_final() == final);
#else
  (void)final;
#endif
  return me;
}

// A tied task stays on its thread, and what ran there meanwhile has ended.
static void stay(struct scope const* me) {
  if (me == NULL || !me->tied) return;
  believe(me->thread == &this_thread);
  believe(suspended == me);
}

static void leave(struct scope const* me) {
  stay(me);
  if (me->tied) suspended = me->below;
}

static Word waits_inside(int depth, Word id, struct scope const* up, Word* sum, int constrained, int final) {
  Word a = 0, b = 0;
  if (depth < 2) return mix(id, (Word)depth);
#pragma omp task shared(a)
  {
    struct scope const* const me = enter(up, 1, constrained, final);
    a = waits_inside(depth - 1, mix(id, 1), me, sum, constrained, final);
    add(sum, a);
    leave(me);
  }
#pragma omp task shared(b)
  {
    struct scope const* const me = enter(up, 1, constrained, final);
    b = waits_inside(depth - 2, mix(id, 2), me, sum, constrained, final);
    add(sum, b);
    leave(me);
  }
#pragma omp taskwait
  stay(up);
  return mix(a, b);
}

static Word groups_inside(int depth, Word id, struct scope const* up, Word* sum, int constrained, int final) {
  Word a = 0, b = 0;
  if (depth < 2) return mix(id, (Word)depth);
#pragma omp taskgroup
  {
#pragma omp task shared(a) priority(depth)
    {
      struct scope const* const me = enter(up, 1, constrained, final);
      a = groups_inside(depth - 1, mix(id, 3), me, sum, constrained, final);
      add(sum, a);
      leave(me);
    }
    b = groups_inside(depth - 2, mix(id, 4), up, sum, constrained, final);
  }
  stay(up);
  return mix(a, b);
}

// No tied task: the caller's graph is not a constrained one.
static Word untied_inside(int depth, Word id, Word* sum) {
  Word a = 0, b = 0;
  if (depth < 2) return mix(id, (Word)depth);
#pragma omp task untied shared(a)
  {
    a = untied_inside(depth - 1, mix(id, 5), sum);
    add(sum, a);
  }
#pragma omp task untied shared(b)
  {
    b = untied_inside(depth - 2, mix(id, 6), sum);
    add(sum, b);
  }
#pragma omp taskwait
  return mix(a, b);
}

static Word final_inside(int depth, Word id, struct scope const* up, Word* sum, int constrained, int final) {
  Word a = 0, b = 0;
  int const last = final ? final : depth < 5;
  if (depth < 2) return mix(id, (Word)depth);
#pragma omp task shared(a) final(depth < 5) mergeable
  {
    struct scope const* const me = enter(up, 1, constrained, last);
    a = final_inside(depth - 1, mix(id, 7), me, sum, constrained, last);
    add(sum, a);
    leave(me);
  }
  b = final_inside(depth - 2, mix(id, 8), up, sum, constrained, final);
#pragma omp taskwait
  stay(up);
  return mix(a, b);
}

static Word depends_inside(int depth, Word id, struct scope const* up, Word* sum, int constrained, int final) {
  Word a = 0, b = 0, c = 0;
  if (depth < 2) return mix(id, (Word)depth);
#pragma omp task shared(a) depend(out : a)
  {
    struct scope const* const me = enter(up, 1, constrained, final);
    a = depends_inside(depth - 1, mix(id, 9), me, sum, constrained, final);
    leave(me);
  }
#pragma omp task shared(b) depend(out : b)
  {
    struct scope const* const me = enter(up, 1, constrained, final);
    b = depends_inside(depth - 2, mix(id, 10), me, sum, constrained, final);
    leave(me);
  }
#pragma omp task shared(a, b, c) depend(in : a, b) depend(out : c)
  {
    struct scope const* const me = enter(up, 1, constrained, final);
    c = mix(a, b);
    add(sum, c);
    leave(me);
  }
#pragma omp taskwait depend(in : c)
  stay(up);
  id = c;
#pragma omp taskwait  // so that a and b outlive their tasks
  stay(up);
  return id;
}

// Two threads of the program's own, which OpenMP meets when they begin a task. They stay until the program
// ends: libomp 19 may crash when such a thread has ended.
struct helper {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int begun;
  void (*todo)(Word*);
  Word* argument;
};
static struct helper helpers[2] = {{PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, NULL, NULL},
                                   {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, NULL, NULL}};

static void* help(void* which) {
  struct helper* const me = (struct helper*)which;
  pthread_mutex_lock(&me->lock);
  for (;;) {
    while (me->todo == NULL) pthread_cond_wait(&me->changed, &me->lock);
    pthread_mutex_unlock(&me->lock);
    me->todo(me->argument);
    pthread_mutex_lock(&me->lock);
    me->todo = NULL;
    pthread_cond_broadcast(&me->changed);
  }
}

static void begin_elsewhere(int which, void (*todo)(Word*), Word* argument) {
#ifdef _OPENMP
  struct helper* const helper = helpers + which;
  pthread_t thread;
  if (!helper->begun && pthread_create(&thread, NULL, help, helper) != 0) abort();
  pthread_mutex_lock(&helper->lock);
  helper->begun = 1;
  helper->argument = argument;
  helper->todo = todo;
  pthread_cond_broadcast(&helper->changed);
  pthread_mutex_unlock(&helper->lock);
#else
  (void)which;
  (void)helpers;
  (void)help;
  todo(argument);
#endif
}

static void end_elsewhere(int which) {
  struct helper* const helper = helpers + which;
  pthread_mutex_lock(&helper->lock);
  while (helper->todo != NULL) pthread_cond_wait(&helper->changed, &helper->lock);
  pthread_mutex_unlock(&helper->lock);
}

// A thread that OpenMP does not know lets a detached task complete.
struct fulfilment {
  omp_event_handle_t event;
  Word* cell;
  Word value;
};

static void* fulfil(void* argument) {
  struct fulfilment* const f = (struct fulfilment*)argument;
  burn(20000);
  *f->cell = f->value;
  omp_fulfill_event(f->event);
  free(f);
  return NULL;
}

static pthread_t fulfil_elsewhere(omp_event_handle_t event, Word* cell, Word value) {
  struct fulfilment* const f = (struct fulfilment*)malloc(sizeof *f);
  f->event = event;
  f->cell = cell;
  f->value = value;
  pthread_t thread;
  if (pthread_create(&thread, NULL, fulfil, f) != 0) abort();
#ifndef _OPENMP
  pthread_join(thread, NULL);  // what follows in the source follows in time
  thread = pthread_self();
#endif
  return thread;
}

static void join(pthread_t thread) {
  if (!pthread_equal(thread, pthread_self())) pthread_join(thread, NULL);
}

static int asked(unsigned long seed, int count, char** seeds) {
  for (int n = 1; n < count; ++n)
    if (strtoul(seeds[n], NULL, 10) == seed) return 1;
  return count < 2;
}

static int run_graph(unsigned long seed, Word (*graph)(void)) {
  wrong = 0;
  Word const checksum = graph();
  for (Word n = 0; n < memory_used; ++n) memory[n] = 0;
  memory_used = 0;
  printf("%lu %016llx", seed, (unsigned long long)checksum);
  if (wrong) printf(" %d rules broken, first in line %d", wrong, first_wrong_line);
  printf("\n");
  fflush(stdout);
  return wrong != 0;
}
