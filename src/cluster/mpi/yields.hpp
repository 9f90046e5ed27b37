// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a host has more ranks than cpus, each MPI_Test of Open MPI that finds nothing gives the cpu
// away (opal_progress, since mpirun has told it so; no parameter turns that off). A worker that
// looks for messages between two tasks of a microsecond then waits for a turn of all other ranks
// after each task: 16 ranks on two cpus took 20 times as long as four. nigh's workers give the cpu
// away themselves when they have no task, so MPI's yields are off while nigh looks for messages; in
// calls of the program they stay on.

namespace nigh::cluster::mpi {

class NoYields {
 public:
  NoYields() noexcept;
  ~NoYields();
  NoYields(NoYields const&) = delete;
  NoYields& operator=(NoYields const&) = delete;

 private:
  bool were_on_ = false;
};

}  // namespace nigh::cluster::mpi
