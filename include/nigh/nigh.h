/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Task queues for C (C99) and, through the module in fortran/nigh.f90, for Fortran: the interface
 * of the task library that HotSLAW was made for (Min, Iancu and Yelick, PGAS'11), on nigh's
 * workers. C++ programs have fork_join.hpp and task_scope.hpp, which cost less.
 *
 *   nigh_task_queue* queue = nigh_task_queue_allocate(NULL);
 *   nigh_put(queue, work, &input, sizeof input, &output);      input is copied
 *   nigh_wait(queue);                                          output is there
 *
 * A task is a function with an input, which was copied when it was put, and an output, which it
 * writes. It may put tasks itself and wait for them. docs/c-api.md shows whole programs.
 *
 * Any thread may use a queue. The workers' own tasks wait in their task stacks. Any other thread
 * that puts gets such a stack too, until it has waited for its tasks. Put, execute, steal and wait
 * concern the calling thread's own stack.
 *
 * A call that fails by the caller's fault returns one of the negative statuses below and leaves a
 * message for nigh_error(). Nothing is thrown. */

#include <stddef.h>
#include <stdint.h>

#define NIGH_C_API __attribute__((visibility("default")))
#if defined(__cplusplus) && __cplusplus >= 201103L
#define NIGH_NOTHROW noexcept
#else
#define NIGH_NOTHROW
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef struct nigh_task_queue nigh_task_queue;

/* `in` is the task's copy of what nigh_put() was given, aligned as malloc() does, NULL for an input of
 * 0 bytes; of nigh_run(), what that was given. `out` is as given. Must return to its caller: a C++
 * exception that leaves it ends the program. */
typedef void (*nigh_function)(void const* in, void* out);

enum nigh_status {
  NIGH_OK = 0,
  NIGH_BAD_ARGUMENT = -1, /* a null queue, function or input; a size that makes no sense */
  NIGH_BUSY = -2,         /* the queue has tasks, or threads that have not waited for theirs */
  NIGH_FORKED = -3 /* the queue was allocated by the parent process: it has no workers here */
};

/* How thieves choose, as in the C++ interface's victim_choice and chunk_choice. */
enum nigh_victims { NIGH_VICTIMS_HIERARCHICAL = 0, NIGH_VICTIMS_RING = 1, NIGH_VICTIMS_RANDOM = 2 };
enum nigh_chunks { NIGH_CHUNKS_HIERARCHICAL = 0, NIGH_CHUNKS_ONE = 1, NIGH_CHUNKS_HALF = 2 };

/* Set all to zero, then `size`, then what is to differ from the defaults, which 0 stands for. Later
 * versions add fields at the end. */
typedef struct nigh_options {
  size_t size;           /* sizeof(nigh_options) */
  int workers;           /* one for each cpu that the process may use */
  int victims;           /* enum nigh_victims */
  int chunks;            /* enum nigh_chunks */
  int depth_cutoff;      /* tasks that deep below their root run inline what they put; 0: none */
  int queue_cutoff;      /* so do those that so many tasks wait behind; 0: none */
  size_t task_capacity;  /* tasks that may wait in one thread's stack, 64 bytes each: 8192 */
  size_t stack_bytes;    /* of each worker thread, reserved, not touched: 64 MiB */
  char const* synthetic; /* NULL: this host; else a made-up machine in hwloc's notation, whose
                            workers are not pinned: "pack:2 numa:1 core:4 pu:1" */
} nigh_options;

/* Of the queue: */
typedef struct nigh_counters {
  size_t size;  /* sizeof(nigh_counters), set by the caller */
  uint64_t put; /* tasks, the roots of nigh_run() included */
  uint64_t finished;
  uint64_t serialized; /* of those put: run inline, for want of room or by a cutoff */
  uint64_t allocated;  /* of those put: their input was too large for the stack */
  /* Of its workers, with what others do with them: */
  uint64_t steals;        /* visits to others' stacks that brought something */
  uint64_t stolen;        /* tasks they brought */
  uint64_t failed_steals; /* rounds of a search that found nothing */
  uint64_t parked;        /* times a worker went to sleep */
} nigh_counters;

/* Inputs up to this size travel in the task's slot; a larger one costs one malloc() and free(). */
#define NIGH_INPUT_IN_SLOT 24

/* A queue on the default runtime, which all such queues and C++ code share, and which the NIGH_*
 * variables of the environment configure (docs/tasks.md), for NULL; otherwise on workers of its
 * own. NULL on failure. */
NIGH_C_API nigh_task_queue* nigh_task_queue_allocate(nigh_options const* options) NIGH_NOTHROW;

/* NIGH_BUSY, and nothing has happened, unless all tasks have finished and, of a queue on workers of
 * its own, all threads that put some have waited. Nobody may use the queue from then on, and nobody
 * else meanwhile. Of NULL, nothing. */
NIGH_C_API int nigh_task_queue_free(nigh_task_queue* queue) NIGH_NOTHROW;

/* Puts f(copy of in, out) onto the calling thread's stack, where it waits to be executed or stolen.
 * `out` must stay valid until a wait() has returned. Never fails for want of room: when the stack
 * is full, or there is no memory for a large input, or 64 other threads have such stacks, the
 * task runs inline, before nigh_put() returns (counters: serialized). */
NIGH_C_API int nigh_put(nigh_task_queue* queue, nigh_function f, void const* in, size_t in_bytes,
                        void* out) NIGH_NOTHROW;

/* Returns when all tasks are complete that the calling task, or outside of tasks the calling
 * thread, has put before, and all that these have put; runs tasks meanwhile. It concerns all
 * queues of the same runtime. A task that returns without it leaves the wait to whoever waits for
 * the task. In C++, outside of tasks, not within a nigh::task_scope opened after such a put. */
NIGH_C_API int nigh_wait(nigh_task_queue* queue) NIGH_NOTHROW;

/* Runs the newest of the tasks that the calling task (thread) has put: 1, or 0 when there are none
 * or they have been stolen. */
NIGH_C_API int nigh_execute(nigh_task_queue* queue) NIGH_NOTHROW;

/* Asks the other threads once, in the order that the runtime's victims say, and runs what it gets,
 * and all that this puts: so many tasks, or 0. */
NIGH_C_API int nigh_steal(nigh_task_queue* queue) NIGH_NOTHROW;

/* 1 when no task of the queue waits or runs anywhere. While tasks are being put, that is a recent
 * state; it is exact for the calling thread's own after its nigh_wait(). */
NIGH_C_API int nigh_is_empty(nigh_task_queue* queue) NIGH_NOTHROW;

/* Runs f(in, out) on a worker as the root of a tree of tasks, and returns when all of it has
 * finished; tasks that it has put into other queues are waited for there. The input is not copied.
 * Within a task, in place: the calling thread runs f. */
NIGH_C_API int nigh_run(nigh_task_queue* queue, nigh_function f, void const* in, size_t in_bytes,
                        void* out) NIGH_NOTHROW;

/* The body of a loop, called with a piece of it, first < last. Several threads may call it at once,
 * with pieces that do not overlap and the same context. It returns: no longjmp() leaves it, and an
 * exception of C++ ends the program. */
typedef void (*nigh_loop_body)(size_t first, size_t last, void* context);

/* Calls body(first, last, context) for pieces [first, last) that together are [begin, end), possibly
 * at once, and returns when all have returned. The pieces belong to the workers of the calling task,
 * outside of tasks to the default runtime's, and the caller takes part. `schedule` as in
 * docs/loops.md: "static", "static,16", "dynamic,4", "guided", "adaptive" or "local"; NULL: the
 * runtime's, which NIGH_SCHEDULE sets. Nothing when begin >= end. NIGH_BAD_ARGUMENT for unknown
 * schedules. */
NIGH_C_API int nigh_parallel_for(size_t begin, size_t end, nigh_loop_body body, void* context,
                                 char const* schedule) NIGH_NOTHROW;

NIGH_C_API int nigh_workers(nigh_task_queue const* queue) NIGH_NOTHROW;

/* Of the calling thread in its runtime: 0 .., or -1 for one that is no worker. One that stands in
 * for a blocked worker w has the index nigh_workers() + w. */
NIGH_C_API int nigh_worker_index(void) NIGH_NOTHROW;

/* Fills as much of *counters as its size says. Exact when the queue is empty. */
NIGH_C_API int nigh_read_counters(nigh_task_queue const* queue,
                                  nigh_counters* counters) NIGH_NOTHROW;

/* Why the latest call of this thread that failed did so: one line; "" when none has. Stays as it is
 * until the next failure. */
NIGH_C_API char const* nigh_error(void) NIGH_NOTHROW;

NIGH_C_API char const* nigh_version(void) NIGH_NOTHROW; /* of the library: "0.2.0" */

#ifdef __cplusplus
}
#endif
#undef NIGH_NOTHROW
