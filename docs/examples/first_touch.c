/* SPDX-License-Identifier: Apache-2.0 */
/* A sum over a large array by all threads, for `numa-vm --meter`: who first wrote to the array
 * decides how much of the reading is remote.
 *
 *   cc -O2 -fopenmp -I /usr/local/include first_touch.c -o first_touch
 *   OMP_PROC_BIND=close numa-vm --nodes 4 --cores 2 --meter -- ./first_touch serial */
#include <nigh/locality_mark.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { elements = 4 << 20 };

int main(int argc, char** argv) {
  int parallel = argc > 1 && strcmp(argv[1], "parallel") == 0;
  double* a = malloc(elements * sizeof *a);
  if (!a) return 1;

#pragma omp parallel for schedule(static) if (parallel)
  for (long i = 0; i < elements; ++i) a[i] = 1.0;

  NIGH_METER_RANGE(0, a, elements * sizeof *a);
  NIGH_METER_START();
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < elements; ++i) sum += a[i];
  NIGH_METER_STOP(1);

  printf("%s first touch: sum %.0f\n", parallel ? "parallel" : "serial", sum);
  free(a);
  return 0;
}
