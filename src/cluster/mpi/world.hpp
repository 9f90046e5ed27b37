// SPDX-License-Identifier: Apache-2.0
#pragma once
// The communicator of a session, and what becomes of errors in it.

#include <mpi.h>

#include <string>

namespace nigh::cluster::mpi {

// A copy of MPI's world, of all its ranks. An error of it ends this rank with a line that says which rank is lost, unless
// the watch says so before. Where it cannot be made, or a rank was lost in an earlier session (-1: none),
// the process ends with status 2.
MPI_Comm make_world(int lost_before);

// MPI's own words.
std::string text_of(int error);

}  // namespace nigh::cluster::mpi
