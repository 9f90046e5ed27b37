/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenMP runtime that does nothing: a region is a call of its body. The time of one with
   something preloaded is that something's. */

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  (void)threads, (void)flags;
  body(data);
}

int omp_get_thread_num(void) { return 0; }
int omp_get_max_threads(void) { return 1024; }
int omp_get_thread_limit(void) { return 1024; }
int omp_get_dynamic(void) { return 0; }
int omp_get_max_active_levels(void) { return 1; }
int omp_get_num_procs(void) { return 1024; }
