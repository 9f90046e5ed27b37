// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include "bench/spread/world.hpp"
#include "jacobi2d/mpi_courier.hpp"

namespace bench {

World::World(int& argc, char**& argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &part_.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &part_.ranks);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, part_.rank, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &on_host_.rank);
  MPI_Comm_size(host, &on_host_.ranks);
  MPI_Comm_free(&host);
}

World::~World() { MPI_Finalize(); }

std::unique_ptr<jacobi2d::Courier> World::courier(Sends sends) const {
  if (part_.ranks == 1) return nullptr;
  return std::make_unique<jacobi2d::MpiCourier>(sends == Sends::late ? jacobi2d::Sending::late
                                                                     : jacobi2d::Sending::early);
}

void World::wait_for_all() const { MPI_Barrier(MPI_COMM_WORLD); }

double World::longest(double seconds) const {
  double all = 0;
  MPI_Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

std::uint64_t World::sum(std::uint64_t checksum) const {
  std::uint64_t all = 0;
  MPI_Allreduce(&checksum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

}  // namespace bench
