// SPDX-License-Identifier: Apache-2.0
// nigh bench spread: how many threads on one block, how many blocks.
#include <fmt/core.h>

#include <stdexcept>

#include "bench/command.hpp"
#include "bench/plot.hpp"
#include "bench/spread/study.hpp"

namespace {

using namespace bench;

void list_variants() {
  for (jacobi2d::VariantInfo const& v : jacobi2d::variants())
    if (v.make != nullptr)
      fmt::print("{}\n", v.name);
    else
      fmt::print("{}  (absent: {})\n", v.name, v.why_absent);
}

void run(SpreadFlags const& flags) {
  if (flags.list) return list_variants();
  SpreadOptions const options = check(flags);
  Plot plot("--plot", flags.plot);
  ResultFile json("--json", flags.json);
  RunRecord const record = record_run(options.machine);
  SpreadStudy const all = study(options);
  // With --json - the lines are what standard output is for.
  fmt::print(flags.json == "-" ? stderr : stdout, "{}", describe(all, options));
  bool verified = true;
  for (Result const& r : results(all, options)) {
    json.write(json_line(r, record));
    plot.add(json_line(r, record));
    verified = verified && r.verified.value_or(true);
  }
  json.finish();
  plot.draw("spread");
  if (!verified) throw std::runtime_error("a field is not the serial one's");
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  SpreadFlags flags;
  return run_command(
      "spread", "a stencil on a grid of blocks: how many threads on one block, how many blocks",
      argc, argv, [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
