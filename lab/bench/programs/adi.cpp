// SPDX-License-Identifier: Apache-2.0
// adi: heat on a square, by threads of many processes. `mpirun -n 4 adi --threads 2`, or alone.
#include <fmt/core.h>
#include <mpi.h>

#include <cstdio>

#include "adi/mpi_transpose.hpp"
#include "bench/programs/program.hpp"

namespace {

constexpr int steps = 40;

bench::Answer answer(adi::Problem const& problem, adi::Result const& r) {
  return {
      fmt::format("size {} steps {} checksum {}", problem.n, problem.steps, bench::hex(r.checksum)),
      r.verified()};
}

adi::Problem problem_from(std::string const& size) {
  return {bench::size_from("--size", size, 1, 20000), steps};
}

bench::Answer solve_together(std::string const& size) {
  adi::Problem const problem = problem_from(size);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  adi::Transpose transpose = adi::transpose_alone;
  if (ranks > 1) transpose = adi::MpiTranspose(problem.n, rank, ranks);
  int const begin = adi::first_line(problem.n, rank, ranks);
  int const end = adi::first_line(problem.n, rank + 1, ranks);
  return answer(problem, adi::combined(adi::solve(problem, begin, end, transpose)));
}

bench::Answer solve_serially(std::string const& size) {
  adi::Problem const problem = problem_from(size);
  return answer(problem, adi::solve_serially(problem));
}

// One process speaks for all.
void silence_others() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) return;
  for (std::FILE* const stream : {stdout, stderr})
    if (std::freopen("/dev/null", "w", stream) == nullptr) std::fclose(stream);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  silence_others();
  int const code = bench::run_plain_program(
      {.name = "adi",
       .description = "Alternating directions with MPI and OpenMP: one run",
       .size_flag = "--size",
       .size_help = "points along each side",
       .default_size = "1200",
       .solve = solve_together,
       .solve_serially = solve_serially},
      argc, argv);
  MPI_Finalize();
  return code;
}
