// SPDX-License-Identifier: Apache-2.0
// late: the last rank comes to a run when the first has ended it, and waits for it inside MPI: the
// large result has to come all the same.

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <nigh/cluster.hpp>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t bytes = std::size_t{8} << 20U;

std::vector<char> made(std::size_t count) { return std::vector<char>(count, 'a'); }

}  // namespace

int main(int argc, char** argv) {
  nigh::cluster::session_options options;
  options.supervised = true;
  nigh::cluster::session const here(argc, argv, options);
  nigh::cluster::run<made>(std::size_t{1});
  if (here.rank() == here.ranks() - 1) std::this_thread::sleep_for(std::chrono::seconds(3));
  auto const result = nigh::cluster::run<made>(bytes);
  {
    nigh::cluster::mpi_section const here_only;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  bool const is_right = result == made(bytes);
  std::printf("rank %d: %s\n", here.rank(), is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}
