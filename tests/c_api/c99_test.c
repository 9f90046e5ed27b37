/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of nigh.h from C99. Their promises in detail are tested from C++. */

#include <nigh/nigh.h>
#include <stdio.h>
#include <string.h>

static int failures;

#define EXPECT(condition)                                                    \
  do {                                                                       \
    if (!(condition)) {                                                      \
      ++failures;                                                            \
      printf("line %d: not so: %s (%s)\n", __LINE__, #condition, nigh_error()); \
    }                                                                        \
  } while (0)

static void twice(void const* in, void* out) { *(int*)out = 2 * *(int const*)in; }

static void where(void const* in, void* out) {
  (void)in;
  *(int*)out = nigh_worker_index();
}

static void add_up(size_t first, size_t last, void* context) {
  for (; first < last; ++first) ((int*)context)[first] += 1;
}

int main(void) {
  enum { tasks = 1000 };
  int results[tasks], ints[1000] = {0}, worker = -1, i;
  nigh_options options = {.size = sizeof options, .workers = 2, .synthetic = "core:2 pu:1"};
  nigh_counters counters = {.size = sizeof counters};
  nigh_task_queue* queue;

  options.victims = 7;
  EXPECT(nigh_task_queue_allocate(&options) == NULL);
  EXPECT(strstr(nigh_error(), "victims") != NULL);
  options.victims = NIGH_VICTIMS_RING;
  options.stack_bytes = 1;
  EXPECT(nigh_task_queue_allocate(&options) == NULL);
  EXPECT(strstr(nigh_error(), "nigh_task_queue_allocate: stack_bytes: 1 is not in ") != NULL);
  options.stack_bytes = 0;
  options.chunks = NIGH_CHUNKS_HALF;
  queue = nigh_task_queue_allocate(&options);
  EXPECT(queue != NULL);
  if (queue == NULL) return 1;

  EXPECT(nigh_workers(queue) == 2);
  for (i = 0; i < tasks; ++i) EXPECT(nigh_put(queue, twice, &i, sizeof i, &results[i]) == NIGH_OK);
  while (nigh_execute(queue) > 0 || nigh_steal(queue) > 0) continue;
  EXPECT(nigh_wait(queue) == NIGH_OK);
  for (i = 0; i < tasks; ++i) EXPECT(results[i] == 2 * i);
  EXPECT(nigh_is_empty(queue) == 1);
  EXPECT(nigh_run(queue, where, NULL, 0, &worker) == NIGH_OK);
  EXPECT(worker == 0 || worker == 1);
  EXPECT(nigh_worker_index() == -1);
  EXPECT(nigh_read_counters(queue, &counters) == NIGH_OK);
  EXPECT(counters.put == tasks + 1 && counters.finished == counters.put);
  EXPECT(nigh_put(NULL, twice, NULL, 0, NULL) == NIGH_BAD_ARGUMENT);
  EXPECT(nigh_parallel_for(0, 1000, add_up, ints, "dynamic,7") == NIGH_OK);
  EXPECT(nigh_parallel_for(0, 1000, add_up, ints, NULL) == NIGH_OK);
  for (i = 0; i < 1000; ++i) EXPECT(ints[i] == 2);
  EXPECT(nigh_parallel_for(1, 0, add_up, ints, NULL) == NIGH_OK); /* empty and reversed: nothing */
  EXPECT(nigh_parallel_for(1, 1, add_up, ints, NULL) == NIGH_OK);
  for (i = 0; i < 1000; ++i) EXPECT(ints[i] == 2);
  EXPECT(nigh_parallel_for(0, 1, add_up, ints, "dynamic,0") == NIGH_BAD_ARGUMENT);
  EXPECT(strstr(nigh_error(), "dynamic,0") != NULL);
  EXPECT(nigh_parallel_for(0, 1, NULL, ints, NULL) == NIGH_BAD_ARGUMENT);
  EXPECT(strlen(nigh_version()) >= 5);
  EXPECT(nigh_task_queue_free(queue) == NIGH_OK);
  return failures == 0 ? 0 : 1;
}
