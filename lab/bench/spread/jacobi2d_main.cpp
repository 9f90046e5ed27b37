// SPDX-License-Identifier: Apache-2.0
// jacobi2d: one variant, one run, by one process or, under mpirun, by many: what other programs
// start. Unless told to pin, it leaves every thread where the system puts it, and OMP_* and NIGH_*
// variables in force. The line on standard output is the same for all variants, processes and
// threads; times go to standard error, when asked for.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "bench/spread/setting.hpp"
#include "jacobi2d/blocks.hpp"
#include "jacobi2d/variant.hpp"

#if defined(NIGH_WITH_MPI)
#include <mpi.h>

#include "jacobi2d/mpi_courier.hpp"
#endif

namespace bench {

namespace {

// The processes that solve a problem together: those of MPI, where it was there to build with, else
// one.

enum class Sends { early, late, none };

class World {
 public:
  World(int& argc, char**& argv);
  ~World();
  World(World const&) = delete;
  World& operator=(World const&) = delete;

  jacobi2d::Part part() const noexcept { return part_; }
  // This process among those on its host.
  jacobi2d::Part on_host() const noexcept { return on_host_; }
  // Null when there is but one process.
  std::unique_ptr<jacobi2d::Courier> courier(Sends sends) const;
  void wait_for_all() const;
  double longest(double seconds) const;
  std::uint64_t sum(std::uint64_t checksum) const;

 private:
  jacobi2d::Part part_, on_host_;
};

#if defined(NIGH_WITH_MPI)

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

#endif

#if !defined(NIGH_WITH_MPI)

World::World(int&, char**&) {}
World::~World() = default;
std::unique_ptr<jacobi2d::Courier> World::courier(Sends) const { return nullptr; }
void World::wait_for_all() const {}
double World::longest(double seconds) const { return seconds; }
std::uint64_t World::sum(std::uint64_t checksum) const { return checksum; }

#endif

}  // namespace

}  // namespace bench

namespace {

using namespace bench;

struct Flags {
  std::string variant = "nigh/tasks", rows = "default", sends = "early", isa;
  int blocks = 24, points = 0, iterations = 10, steps = 1, spread = 1;
  std::optional<long> threads;
  double memory = 0.05;
  bool pin = false, reference = false, report = false, list = false;

  void declare(CLI::App& app) {
    app.add_option("--variant", variant, "which one; default nigh/tasks")->type_name("NAME");
    app.add_option("--blocks", blocks, "along each side of the square; default 24");
    app.add_option("--memory", memory,
                   "share of the machine's memory for the fields; default 0.05");
    app.add_option("--points", points, "along each side of a block, instead of --memory");
    app.add_option("--iterations", iterations, "visits of every block; default 10");
    app.add_option("--steps", steps, "time steps a visit; default 1");
    app.add_option("--sends", sends,
                   "early: a block's borders as soon as it is through (default); late: those for "
                   "other processes at the end of an iteration; none")
        ->type_name("WHEN");
    app.add_option("--threads", threads, "of each process; default: one for each allowed cpu");
    app.add_option("--spread", spread, "threads on one block, for variants that ask; default 1");
    app.add_option("--rows", rows, "OpenMP's chunks of a block: default, 1, 16, 512, collapse")
        ->type_name("HOW");
    app.add_flag("--pin", pin, "pin threads, compact; processes of one host side by side");
    app.add_option("--isa", isa, "kernel for baseline, avx2 or avx512; default: the widest")
        ->type_name("NAME");
    app.add_flag("--reference", reference, "by its definition, for comparison: the same line");
    app.add_flag("--report", report, "on standard error: processes, threads, time, rate");
    app.add_flag("--list", list, "name the variants and leave");
  }
};

void require(bool holds, char const* argument, std::string const& what) {
  if (!holds) throw UsageError(fmt::format("{}: {}", argument, what));
}

Sends sends_from(std::string const& word) {
  if (word == "early") return Sends::early;
  if (word == "late") return Sends::late;
  if (word == "none") return Sends::none;
  refuse("--sends", word, "is not early, late or none");
}

jacobi2d::Problem problem_from(Flags const& f, nigh::topology const& machine) {
  require(f.blocks >= 1 && f.blocks <= 10'000, "--blocks", "a number from 1 to 10000 is needed");
  require(f.points >= 0 && f.points <= 1'000'000, "--points",
          "a number from 1 to 1000000 is needed, or 0 for --memory");
  require(f.iterations >= 1, "--iterations", "a positive number is needed");
  require(f.steps >= 1 && f.steps <= 1000, "--steps", "a number from 1 to 1000 is needed");
  jacobi2d::Problem p{.blocks = f.blocks,
                      .points = f.points,
                      .iterations = f.iterations,
                      .steps = f.steps,
                      .sends = sends_from(f.sends) != Sends::none};
  if (p.points == 0) p.points = points_of_share("--memory", f.memory, machine, f.blocks);
  return p;
}

jacobi2d::Team team_from(Flags const& f, nigh::topology const& machine,
                         jacobi2d::Part const& host) {
  jacobi2d::Team team;
  team.machine = &machine;
  auto const all = cpus_for(static_cast<long>(machine.cpus().size()), machine);
  require(f.threads.value_or(1) > 0, "--threads", "a positive number is needed");
  auto const threads = f.threads ? cpus_for(*f.threads, machine).size() : all.size();
  // Processes that may use the same cpus take turns with them, where there are enough.
  std::size_t first = threads * static_cast<std::size_t>(host.rank);
  if (all.size() < threads * static_cast<std::size_t>(host.ranks)) first = 0;
  team.cpus.assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                   all.begin() + static_cast<std::ptrdiff_t>(first + threads));
  team.pin = f.pin ? pin_this_thread : nullptr;
  require(f.spread >= 1 && f.spread <= team.threads(), "--spread",
          fmt::format("{} threads on a block, but there are {}", f.spread, team.threads()));
  team.spread = f.spread;
  team.rows = rows_from("--rows", f.rows);
  return team;
}

void run(Flags const& flags, World const& world) {
  if (flags.list) return list_variants(jacobi2d::variants());
  nigh::topology const machine = live_machine();
  jacobi2d::Problem const p = problem_from(flags, machine);
  jacobi2d::VariantInfo const& info = jacobi2d_variant_from("--variant", flags.variant);
  jacobi2d::Kernel const& kernel = jacobi2d_kernel_from("--isa", flags.isa);
  jacobi2d::Team team = team_from(flags, machine, world.on_host());
  require(world.part().ranks <= p.blocks, "--blocks",
          fmt::format("{} rows of blocks, but {} processes", p.blocks, world.part().ranks));

  std::uint64_t checksum = 0;
  double seconds = 0;
  if (flags.reference) {
    checksum = jacobi2d::reference_checksum(p);
  } else {
    auto const courier = world.courier(sends_from(flags.sends));
    if (world.part().ranks > 1) team.agree = [&](double s) { return world.longest(s); };
    auto const variant = info.make(team);
    jacobi2d::Blocks blocks(p, kernel, &machine, world.part(), courier.get());
    jacobi2d::fill(*variant, blocks);
    world.wait_for_all();
    seconds = world.longest(jacobi2d::iterate(*variant, blocks, p.iterations));
    checksum = world.sum(jacobi2d::checksum(*variant, blocks));
  }
  fmt::print("jacobi2d side {} blocks {} iterations {} steps {} checksum {:016x}\n", p.side(),
             p.blocks, p.iterations, p.steps, checksum);
  if (flags.report && !flags.reference)
    fmt::print(stderr, "processes {}\nthreads {}\nseconds {:.6f}\nMLUP/s {:.1f}\n",
               world.part().ranks, team.threads(), seconds, p.updates() / seconds / 1e6);
}

// One process speaks for all.
void silence() {
  for (std::FILE* const stream : {stdout, stderr})
    if (std::freopen("/dev/null", "w", stream) == nullptr) std::fclose(stream);
}

}  // namespace

int main(int argc, char** argv) {
  World const world(argc, argv);
  if (world.part().rank > 0) silence();
  Flags flags;
  return run_program(
      "jacobi2d", "A five-point stencil on a grid of blocks: one variant, one run", argc, argv,
      [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags, world); });
}
