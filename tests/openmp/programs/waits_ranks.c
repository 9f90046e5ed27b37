/* SPDX-License-Identifier: Apache-2.0 */
/* mpirun -n N waits_ranks: ranks in a ring. In each region a rank sends its number to the next one and
   waits for that of the one before. Rank 0 prints how many numbers were right, and on standard error
   how many seconds the regions of all ranks took. */

#include <mpi.h>
#include <stdio.h>

enum { rounds = 3 };

int main(int count, char** words) {
  int provided, me, ranks, right = 0, of_all = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int const next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
  MPI_Barrier(MPI_COMM_WORLD);
  double const began = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel
    {
#pragma omp master
      {
        int got = -1;
        MPI_Sendrecv(&me, 1, MPI_INT, next, round, &got, 1, MPI_INT, before, round, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        right += got == before;
      }
    }
  }
  MPI_Reduce(&right, &of_all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) {
    printf("%d\n", of_all);
    fprintf(stderr, "%.3f\n", MPI_Wtime() - began);
  }
  MPI_Finalize();
  return 0;
}
