// SPDX-License-Identifier: Apache-2.0
#include "cluster/mpi/world.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "cluster/mpi/losses.hpp"

namespace nigh::cluster::mpi {

std::string text_of(int error) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

namespace {

// For the watch, which says on which host the rank was.
constexpr auto time_to_hear_of_an_end = std::chrono::seconds(1);
constexpr auto time_to_be_silent = std::chrono::seconds(10);

// Of an error of that communicator: if ranks are lost, the first of them.
std::string reason_of(MPI_Comm world, int error) {
  if (reports_a_loss(error))
    for (int const rank : acknowledge_losses(world)) return "rank " + std::to_string(rank) + " is lost";
  return text_of(error);
}

// The first sign of another rank's end may be an error of MPI, by which MPI would end all ranks
// before any has said why. Instead the watch ends this rank and says why: at once, or when a rank
// has been silent for long enough.
void wait_for_the_watch(MPI_Comm* world, int* code, ...) {
  auto const why = reason_of(*world, *code);
  std::this_thread::sleep_for(reports_a_loss(*code) ? time_to_hear_of_an_end : time_to_be_silent);
  int rank = 0;
  MPI_Comm_rank(*world, &rank);
  std::fprintf(stderr, "nigh: %s; rank %d ends\n", why.c_str(), rank);
  MPI_Abort(*world, 1);
}

[[noreturn]] void refuse_to_begin(std::string const& why) {
  std::fprintf(stderr, "nigh: a session cannot begin: %s\n", why.c_str());
  std::_Exit(2);
}

}  // namespace

MPI_Comm make_world(int lost_before) {
  if (lost_before >= 0)
    refuse_to_begin("rank " + std::to_string(lost_before) + " was lost in an earlier one");
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int const error = MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  if (error != MPI_SUCCESS) refuse_to_begin(reason_of(MPI_COMM_WORLD, error));
  MPI_Comm_create_errhandler(wait_for_the_watch, &handler);
  MPI_Comm_set_errhandler(world, handler);
  MPI_Errhandler_free(&handler);
  return world;
}

}  // namespace nigh::cluster::mpi
