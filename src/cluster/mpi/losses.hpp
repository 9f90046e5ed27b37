// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranks that are lost, as MPI reports them where it implements ULFM (User Level Failure Mitigation,
// MPI Forum): Open MPI 5, started by `mpirun --with-ft ulfm`. With any other library nothing is
// ever reported, and no rank may go on.

#include <mpi.h>

#include <string>
#include <vector>

namespace nigh::cluster::mpi {

// Empty: losses are reported. Otherwise why not, for people.
std::string why_losses_are_not_reported();

// To be called before MPI starts, for ranks that are to survive others: messages between ranks of a
// host go over TCP then. A rank that reads from a queue in Open MPI's shared memory (btl/sm) waits
// without end for one that was killed while it wrote there. OMPI_MCA_btl of the environment goes before.
void keep_out_of_shared_memory();

// Does the error say that a rank is lost? A request with that error may still be active.
bool reports_a_loss(int error);

// Does the error say that a receive from any rank was held back after a loss?
bool says_held_back(int error);

// All ranks of the communicator that MPI knows to be lost. Receives from any rank, which MPI holds
// back after a loss, go on from now on.
std::vector<int> acknowledge_losses(MPI_Comm world);

}  // namespace nigh::cluster::mpi
