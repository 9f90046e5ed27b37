/* SPDX-License-Identifier: Apache-2.0 */
/* Fibonacci numbers by a tree of tasks: a task for each call, and no cutoff. The program of the
 * slides of HotSLAW (Min, Iancu and Yelick, 2011), on nigh's task queues.
 *
 *   cc -std=c99 fib.c $(pkg-config --cflags --libs nigh) && ./a.out 30 */

#include <inttypes.h>
#include <nigh/nigh.h>
#include <stdio.h>
#include <stdlib.h>

static nigh_task_queue* queue;

static void fib(void const* in, void* out) {
  int const n = *(int const*)in;
  int64_t* const result = out;
  int const n1 = n - 1, n2 = n - 2;
  int64_t x, y;
  if (n < 2) {
    *result = n;
    return;
  }
  nigh_put(queue, fib, &n1, sizeof n1, &x);
  nigh_put(queue, fib, &n2, sizeof n2, &y);
  nigh_wait(queue);
  *result = x + y;
}

int main(int argc, char** argv) {
  int const n = argc > 1 ? atoi(argv[1]) : 30;
  int64_t result;
  nigh_counters counters = {sizeof counters, 0, 0, 0, 0, 0, 0, 0, 0};

  queue = nigh_task_queue_allocate(NULL);
  if (queue == NULL) {
    fprintf(stderr, "%s\n", nigh_error());
    return 1;
  }
  nigh_run(queue, fib, &n, sizeof n, &result);
  nigh_read_counters(queue, &counters);
  printf("fib(%d) = %" PRId64 " in %" PRIu64 " tasks, %" PRIu64 " of them inline\n", n, result,
         counters.put, counters.serialized);
  return nigh_task_queue_free(queue) == NIGH_OK ? 0 : 1;
}
