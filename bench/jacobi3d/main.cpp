// SPDX-License-Identifier: Apache-2.0
// nigh bench jacobi3d: the paper's 3D six-point Jacobi solver under every schedule it compares.
#include <fmt/core.h>

#include <stdexcept>

#include "bench/command.hpp"
#include "bench/jacobi3d/block_study.hpp"
#include "bench/jacobi3d/compare.hpp"
#include "bench/jacobi3d/single.hpp"
#include "bench/plot.hpp"

namespace {

using namespace bench;

void list_variants() {
  for (jacobi3d::VariantInfo const& v : jacobi3d::variants())
    if (v.make != nullptr)
      fmt::print("{}\n", v.name);
    else
      fmt::print("{}  (absent: {})\n", v.name, v.why_absent);
}

void run(JacobiFlags const& flags) {
  if (flags.list) return list_variants();
  auto const options = check(flags);
  if (options->variant != nullptr) return run_single(*options, flags.report);

  Plot plot("--plot", flags.plot);
  ResultFile json("--json", flags.json);
  RunRecord const record = record_run(options->machine);
  std::vector<Result> all;
  std::string tables;
  bool verified = true;
  if (flags.block_study) {
    BlockStudy const study = study_blocks(*options);
    tables = describe(study, *options);
    all = results(study, *options);
  } else {
    Comparison const comparison = compare(*options);
    tables = describe(comparison, *options);
    all = results(comparison, *options);
  }
  // With --json - the lines are what standard output is for.
  fmt::print(flags.json == "-" ? stderr : stdout, "{}", tables);
  for (Result const& r : all) {
    json.write(json_line(r, record));
    plot.add(json_line(r, record));
    verified = verified && r.verified.value_or(true);
  }
  json.finish();
  plot.draw("jacobi3d");
  if (!verified) throw std::runtime_error("a field differs from the serial reference");
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  JacobiFlags flags;
  return run_command(
      "jacobi3d", "3D six-point Jacobi solver under every schedule of Wittmann and Hager (2009)",
      argc, argv, [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
