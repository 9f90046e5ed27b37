// SPDX-License-Identifier: Apache-2.0
// Sessions that cannot begin, since rank 2 is killed before.
//
//     unbegun WHEN   `early`: before MPI has started, which the session does then; `before`: after
//     MPI has started; in the `midst` of the session's beginning; `within` an earlier session; or
//                    `between` that one and the next
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>
#include <string_view>

namespace {

int answer() { return 42; }

}  // namespace

int main(int argc, char** argv) {
  std::string_view const when = argc > 1 ? argv[1] : "";
  int given = 0, rank = 0;
  if (when == "early") {
    char const* const number = std::getenv("OMPI_COMM_WORLD_RANK");
    if (number != nullptr && std::string_view(number) == "2") std::raise(SIGKILL);
    nigh::cluster::session const here(argc, argv);
    return 0;
  }
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto const session = [&](bool is_killed) {
    nigh::cluster::session_options options;
    options.supervised = true;
    nigh::cluster::session here(argc, argv, options);
    int const result = nigh::cluster::run<answer>();
    if (is_killed) std::raise(SIGKILL);
    return result;
  };
  if (when == "between" || when == "within") session(when == "within" && rank == 2);
  if (rank == 2) {
    MPI_Comm same;
    if (when == "midst") MPI_Comm_dup(MPI_COMM_WORLD, &same);
    std::raise(SIGKILL);
  }
  std::printf("rank %d: %d\n", rank, session(false));
}
