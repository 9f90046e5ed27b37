// SPDX-License-Identifier: Apache-2.0
#include "cluster/mpi/losses.hpp"

#include <cstddef>
#include <cstdlib>
#include <numeric>

// MPICH 4.0 has ULFM's functions, too, and fails an assertion in them (docs/cluster-faults.md).
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace nigh::cluster::mpi {

#if defined(OPEN_MPI) && defined(MPIX_ERR_PROC_FAILED)

std::string why_losses_are_not_reported() {
  void* is_on = nullptr;
  int has_attribute = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &is_on, &has_attribute);
  if (has_attribute != 0 && *static_cast<int*>(is_on) != 0) return {};
  return "the launcher was not told to let ranks go on without the others (mpirun --with-ft ulfm)";
}

void keep_out_of_shared_memory() {
  if (std::getenv("OMPI_MCA_mpi_ft_enable") != nullptr) ::setenv("OMPI_MCA_btl", "^sm", 0);
}

namespace {

int kind_of(int error) {
  int kind = MPI_SUCCESS;
  MPI_Error_class(error, &kind);
  return kind;
}

}  // namespace

bool says_held_back(int error) { return kind_of(error) == MPIX_ERR_PROC_FAILED_PENDING; }

bool reports_a_loss(int error) {
  int const kind = kind_of(error);
  return kind == MPIX_ERR_PROC_FAILED || kind == MPIX_ERR_PROC_FAILED_PENDING ||
         kind == MPI_ERR_IN_STATUS;
}

std::vector<int> acknowledge_losses(MPI_Comm world) {
  MPI_Group lost, all;
  MPIX_Comm_failure_ack(world);
  MPIX_Comm_failure_get_acked(world, &lost);
  MPI_Comm_group(world, &all);
  int count = 0;
  MPI_Group_size(lost, &count);
  std::vector<int> places(static_cast<std::size_t>(count)), ranks(places.size());
  std::iota(places.begin(), places.end(), 0);
  MPI_Group_translate_ranks(lost, count, places.data(), all, ranks.data());
  MPI_Group_free(&lost);
  MPI_Group_free(&all);
  return ranks;
}

#else

std::string why_losses_are_not_reported() {
  return "the MPI library lets no rank go on without the others";
}

void keep_out_of_shared_memory() {}

bool reports_a_loss(int) { return false; }
bool says_held_back(int) { return false; }

std::vector<int> acknowledge_losses(MPI_Comm) { return {}; }

#endif

}  // namespace nigh::cluster::mpi
