// SPDX-License-Identifier: Apache-2.0
// nigh bench mg: the multigrid benchmark under every runtime, binding and memory policy.
#include <fmt/core.h>

#include <stdexcept>

#include "bench/command.hpp"
#include "bench/mg/study.hpp"
#include "bench/plot.hpp"

namespace {

using namespace bench;

void list_variants() {
  for (npb_mg::VariantInfo const& v : npb_mg::variants())
    if (v.make != nullptr)
      fmt::print("{}\n", v.name);
    else
      fmt::print("{}  (absent: {})\n", v.name, v.why_absent);
}

void run(MgFlags const& flags) {
  if (flags.list) return list_variants();
  MgOptions const options = check(flags);
  Plot plot("--plot", flags.plot);
  ResultFile json("--json", flags.json);
  RunRecord const record = record_run(options.machine);
  MgStudy const all = study(options);
  // With --json - the lines are what standard output is for.
  fmt::print(flags.json == "-" ? stderr : stdout, "{}", describe(all, options));
  bool verified = true;
  for (Result const& r : results(all, options)) {
    json.write(json_line(r, record));
    plot.add(json_line(r, record));
    verified = verified && r.verified.value_or(true);
  }
  json.finish();
  plot.draw("mg");
  if (!verified) throw std::runtime_error("a norm is not the published one");
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  MgFlags flags;
  return run_command(
      "mg", "NPB multigrid under every runtime, thread binding and memory policy", argc, argv,
      [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
