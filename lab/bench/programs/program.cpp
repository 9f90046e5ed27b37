// SPDX-License-Identifier: Apache-2.0
#include "bench/programs/program.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/options.hpp"
#include "size_text.hpp"

namespace bench {

namespace {

struct Flags {
  std::string size;
  std::optional<long> threads;
  long repeat = 1;
  bool report = false, serial = false;

  void declare(PlainProgram const& program, CLI::App& app) {
    size = program.default_size;
    app.add_option(program.size_flag, size, program.size_help + "; default " + program.default_size)
        ->type_name("SIZE");
    app.add_option("--threads", threads, "default: OMP_NUM_THREADS, else one for each allowed cpu");
    app.add_option("--repeat", repeat, "solve it so often; default 1");
    app.add_flag("--report", report, "on standard error: threads, and how long it took");
    if (program.solve_serially)
      app.add_flag("--serial", serial, "by serial code, for comparison: the same line");
  }
};

void run(PlainProgram const& program, Flags const& flags) {
  constexpr long most_threads = 1024, most_times = 1'000'000;
  if (flags.threads && (*flags.threads < 1 || *flags.threads > most_threads))
    throw UsageError(
        fmt::format("--threads: {} is not a number from 1 to {}", *flags.threads, most_threads));
  if (flags.repeat < 1 || flags.repeat > most_times)
    throw UsageError(
        fmt::format("--repeat: {} is not a number from 1 to {}", flags.repeat, most_times));
  if (flags.threads) omp_set_num_threads(static_cast<int>(*flags.threads));
  auto const start = std::chrono::steady_clock::now();
  auto const& solve = flags.serial ? program.solve_serially : program.solve;
  Answer answer = solve(flags.size);
  for (long n = 1; n < flags.repeat && answer.verified; ++n) {
    Answer again = solve(flags.size);
    if (again.line != answer.line) again.verified = false;
    answer = std::move(again);
  }
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  fmt::print("{} {} {}\n", program.name, answer.line,
             answer.verified ? "verified" : "NOT VERIFIED");
  if (flags.report)
    fmt::print(stderr, "threads {}\nseconds {:.4f}\n", flags.serial ? 1 : omp_get_max_threads(),
               took.count());
  if (!answer.verified) throw std::runtime_error("the result is wrong");
}

}  // namespace

int run_plain_program(PlainProgram const& program, int argc, char** argv) {
  Flags flags;
  return run_program(
      program.name, program.description, argc, argv,
      [&](CLI::App& app) { flags.declare(program, app); }, [&] { run(program, flags); });
}

int size_from(std::string const& flag, std::string const& word, int least, int most) {
  try {
    return static_cast<int>(workloads::number(word, least, most));
  } catch (std::invalid_argument const& e) {
    throw UsageError(flag + ": " + e.what());
  }
}

std::string hex(unsigned long long checksum) { return fmt::format("{:016x}", checksum); }

}  // namespace bench
