// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/mpi_processes.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>

namespace bench {

MpiProcesses::MpiProcesses(int& argc, char**& argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  int const nowhere = rank_ > 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
  if (nowhere < 0) return;
  errors_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
}

MpiProcesses::~MpiProcesses() {
  speak_again();
  MPI_Finalize();
}

void MpiProcesses::speak_again() {
  if (errors_ < 0) return;
  std::fflush(stderr);
  dup2(errors_, STDERR_FILENO);
  close(errors_);
  errors_ = -1;
}

void MpiProcesses::wait_for_all() const { MPI_Barrier(MPI_COMM_WORLD); }

double MpiProcesses::longest(double seconds) const {
  double all = 0;
  MPI_Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

std::vector<std::uint64_t> MpiProcesses::gather(std::vector<std::uint64_t> const& mine) const {
  std::vector<std::uint64_t> all(rank_ == 0 ? mine.size() * static_cast<std::size_t>(size_) : 0);
  int const count = static_cast<int>(mine.size());
  MPI_Gather(mine.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return all;
}

}  // namespace bench
