// SPDX-License-Identifier: Apache-2.0
// Faults of Open MPI 5.0.11 that nigh works around, in calls of MPI alone (docs/cluster-faults.md).
// Rank 2 kills itself.
//
//     mpi_faults held-back      rank 0 has a receive from any rank that is held back since rank 2
//     is lost, and takes in
//                               rank 1's message for it before it tests it again
//     mpi_faults broken-pipe MS [ignored]
//                               each rank sends messages of 1 MB to all others; rank 2 is gone
//                               after so many milliseconds. A second later the others say that they
//                               go on; with `ignored` they ignore SIGPIPE
#include <mpi.h>
#include <unistd.h>
// after mpi.h
#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

int class_of(int error) {
  int found = 0;
  MPI_Error_class(error, &found);
  return found;
}

void hold_back(int rank) {
  constexpr int tag = 7, other_tag = 8, sent = 42;
  if (rank == 2) std::raise(SIGKILL);
  if (rank == 1) {
    ::sleep(1);
    MPI_Send(&sent, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    ::sleep(2);
  }
  if (rank != 0) return;
  MPI_Request any = MPI_REQUEST_NULL, other = MPI_REQUEST_NULL;
  int value = 0, is_done = 0, error = MPI_SUCCESS;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &any);
  while (class_of(error) != MPIX_ERR_PROC_FAILED_PENDING)
    error = MPI_Test(&any, &is_done, MPI_STATUS_IGNORE);
  MPIX_Comm_failure_ack(MPI_COMM_WORLD);
  // Tests of another receive take the message in.
  int none = 0, never = 0;
  MPI_Irecv(&none, 1, MPI_INT, 1, other_tag, MPI_COMM_WORLD, &other);
  for (double const began = MPI_Wtime(); MPI_Wtime() < began + 2;)
    MPI_Test(&other, &never, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) {
    error = MPI_Test(&any, &is_done, MPI_STATUS_IGNORE);
    std::printf("MPI_Test: error %d, flag %d, %d received, the request is %s\n", class_of(error),
                is_done, value, any == MPI_REQUEST_NULL ? "freed" : "kept");
  }
}

void send_to_all(int rank, int ranks, double seconds) {
  constexpr int tag = 1, size = 1 << 20, at_once = 4;
  std::vector<char> const out(size);
  std::vector<char> in(size);
  std::array<MPI_Request, at_once> sends{};
  sends.fill(MPI_REQUEST_NULL);
  MPI_Request receive = MPI_REQUEST_NULL;
  int to = rank, lost = -1;
  for (double const began = MPI_Wtime(); MPI_Wtime() < began + seconds + 1;) {
    if (rank == 2 && MPI_Wtime() > began + seconds) std::raise(SIGKILL);
    for (auto& send : sends) {
      int is_done = 1;
      if (send != MPI_REQUEST_NULL) MPI_Test(&send, &is_done, MPI_STATUS_IGNORE);
      if (is_done == 0) continue;
      do to = (to + 1) % ranks;
      while (to == rank || to == lost);
      if (MPI_Isend(out.data(), size, MPI_CHAR, to, tag, MPI_COMM_WORLD, &send) == MPI_SUCCESS)
        continue;
      lost = 2;
      send = MPI_REQUEST_NULL;
    }
    int is_done = 1;
    if (receive != MPI_REQUEST_NULL &&
        MPI_Test(&receive, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      MPIX_Comm_failure_ack(MPI_COMM_WORLD);
      lost = 2;
    }
    if (is_done != 0)
      MPI_Irecv(in.data(), size, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &receive);
  }
  std::printf("rank %d goes on\n", rank);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string_view> const words(argv + 1, argv + argc);
  int rank = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 3 || words.empty() || (words[0] != "held-back" && words.size() < 2)) {
    if (rank == 0)
      std::puts("usage: mpi_faults held-back | broken-pipe MS [ignored], on three ranks or more");
    MPI_Finalize();
    return 2;
  }
  if (words.back() == "ignored") std::signal(SIGPIPE, SIG_IGN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (words[0] == "held-back")
    hold_back(rank);
  else
    send_to_all(rank, ranks, std::atoi(words[1].data()) * 1e-3);
  std::fflush(stdout);
  ::_exit(0);  // MPI_Finalize has a fault of its own
}
