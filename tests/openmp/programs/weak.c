/* SPDX-License-Identifier: Apache-2.0 */
/* Calls OpenMP's functions where they are there, and is not linked to a runtime. */

#include <stdio.h>

extern void omp_set_num_threads(int) __attribute__((weak));
extern void omp_set_dynamic(int) __attribute__((weak));
extern int omp_get_dynamic(void) __attribute__((weak));
extern void omp_set_nested(int) __attribute__((weak));

int main(void) {
  if (omp_set_num_threads) omp_set_num_threads(2);
  if (omp_set_dynamic) omp_set_dynamic(1);
  if (omp_set_nested) omp_set_nested(1);
  printf("dynamic %d\n", omp_get_dynamic ? omp_get_dynamic() : 0);
}
