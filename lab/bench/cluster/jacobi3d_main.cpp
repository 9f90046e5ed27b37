// SPDX-License-Identifier: Apache-2.0
// cluster-jacobi3d: the six-point stencil on a cube that is divided among ranks, as a plain program
// for mpirun. The line on standard output is the same for any number of ranks and workers.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nigh/cluster.hpp>
#include <optional>
#include <vector>

#include "bench/cluster/mpi_processes.hpp"
#include "bench/options.hpp"
#include "jacobi3d/slab.hpp"

namespace {

using namespace bench;

struct Flags {
  long side = 120, sweeps = 10;
  std::optional<long> workers;
  bool check = false, report = false;

  void declare(CLI::App& app) {
    app.add_option("--side", side, "sites along each side; default 120");
    app.add_option("--sweeps", sweeps, "default 10");
    app.add_option("--workers", workers, "of each rank; default: its share of the host's cpus");
    app.add_flag("--check", check, "compare with one thread's field, by its definition");
    app.add_flag("--report", report, "on standard error: ranks, workers, time, rate");
  }
};

std::uint64_t reference_checksum(jacobi3d::Extent const& size, long sweeps) {
  jacobi3d::Grid const grid(size);
  std::vector<double> from(grid.elements()), to(grid.elements());
  for (auto* field : {&from, &to}) jacobi3d::fill_planes(grid, field->data(), -1, size.k + 1);
  for (; sweeps > 0; --sweeps) {
    jacobi3d::reference_sweep(grid, from.data(), to.data(), 0, size.k);
    from.swap(to);
  }
  return jacobi3d::checksum_planes(grid, from.data(), 0, size.k);
}

void run(Flags const& f, int& argc, char**& argv, MpiProcesses& processes) {
  in_range("--side", f.side, processes.size(), 10'000);
  in_range("--sweeps", f.sweeps, 0, 1'000'000);
  jacobi3d::Extent const size{f.side, f.side, f.side};
  nigh::cluster::session_options options;
  options.workers.workers = static_cast<int>(number_or("--workers", f.workers, 0, 1024));

  processes.speak_again();
  nigh::cluster::session here(argc, argv, options);
  jacobi3d::Slab slab(size, here);
  slab.fill();
  {
    nigh::cluster::mpi_section const section;
    processes.wait_for_all();
  }
  auto const start = std::chrono::steady_clock::now();
  slab.sweep(static_cast<int>(f.sweeps));
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  auto const seconds = [&] {
    nigh::cluster::mpi_section const section;
    return processes.longest(took.count());
  }();
  auto const checksum = slab.checksum();
  if (here.rank() > 0) return;
  fmt::print("jacobi3d side {} sweeps {} checksum {:016x}\n", f.side, f.sweeps, checksum);
  if (f.report)
    fmt::print(stderr, "ranks {}\nworkers {}\nseconds {:.6f}\nMLUP/s {:.1f}\n", here.ranks(),
               here.workers().workers(), seconds,
               static_cast<double>(size.sites()) * static_cast<double>(f.sweeps) / seconds / 1e6);
  if (f.check && checksum != reference_checksum(size, f.sweeps))
    throw std::runtime_error("the field is not that of one thread");
}

}  // namespace

int main(int argc, char** argv) {
  MpiProcesses processes(argc, argv);
  Flags flags;
  return run_program(
      "cluster-jacobi3d", "A six-point stencil on a cube that is divided among ranks", argc, argv,
      [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags, argc, argv, processes); });
}
