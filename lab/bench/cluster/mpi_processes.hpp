// SPDX-License-Identifier: Apache-2.0
#pragma once
// MPI as plain programs use it beside a session: one process speaks for all.

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace bench {

class MpiProcesses {
 public:
  // Standard error is silent in all but the first, for all would complain of the same.
  MpiProcesses(int& argc, char**& argv);
  ~MpiProcesses();
  MpiProcesses(MpiProcesses const&) = delete;
  MpiProcesses& operator=(MpiProcesses const&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  void speak_again();  // from here on, what goes wrong is each one's own

  // Collective.
  void wait_for_all() const;
  double longest(double seconds) const;
  // Rank 0 gets all ranks' numbers, one rank's behind the other's; others get nothing.
  std::vector<std::uint64_t> gather(std::vector<std::uint64_t> const& mine) const;

 private:
  int rank_ = 0, size_ = 1;
  int errors_ = -1;  // where standard error went
};

inline MpiProcesses::MpiProcesses(int& argc, char**& argv) {
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

inline MpiProcesses::~MpiProcesses() {
  speak_again();
  MPI_Finalize();
}

inline void MpiProcesses::speak_again() {
  if (errors_ < 0) return;
  std::fflush(stderr);
  dup2(errors_, STDERR_FILENO);
  close(errors_);
  errors_ = -1;
}

inline void MpiProcesses::wait_for_all() const { MPI_Barrier(MPI_COMM_WORLD); }

inline double MpiProcesses::longest(double seconds) const {
  double all = 0;
  MPI_Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

inline std::vector<std::uint64_t> MpiProcesses::gather(
    std::vector<std::uint64_t> const& mine) const {
  std::vector<std::uint64_t> all(rank_ == 0 ? mine.size() * static_cast<std::size_t>(size_) : 0);
  int const count = static_cast<int>(mine.size());
  MPI_Gather(mine.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return all;
}

}  // namespace bench
