// SPDX-License-Identifier: Apache-2.0
// cli_where_mpi: where its main thread may run, and another one, beside those that MPI makes.

#include <mpi.h>

#include <cstdio>
#include <string>
#include <thread>

#include "mask.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::string mask;
  std::thread([&mask] { mask = allowed_cpus(); }).join();
  std::printf("%s\n%s\n", allowed_cpus().c_str(), mask.c_str());
  MPI_Finalize();
}
