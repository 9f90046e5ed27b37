// SPDX-License-Identifier: Apache-2.0
// nigh bench coordinator: programs that share a host, and the rules by which they are given cpus.
#include <CLI/CLI.hpp>
#include <optional>

#include "bench/command.hpp"
#include "bench/coordinator/death.hpp"
#include "bench/coordinator/overhead.hpp"
#include "bench/coordinator/policies.hpp"
#include "bench/coordinator/throughput.hpp"
#include "bench/options.hpp"
#include "bench/report.hpp"

namespace {

using namespace bench;

struct Flags {
  bool throughput = false, policies = false, overhead = false, death = false;
  bool all_policies = false, quick = false;
  std::optional<long> repetitions, programs, requests, seed;
  std::string set = "6", json, plot;

  void declare(CLI::App& app) {
    app.add_flag("--throughput", throughput,
                 "programs in turn, all at once, and all at once under the coordinator");
    app.add_flag("--policies", policies,
                 "which cpus each policy gives to semi-random requests, and how soon");
    app.add_flag("--all-policies", all_policies,
                 "--throughput: the coordinator under each policy, not only under its usual one");
    app.add_flag("--overhead", overhead,
                 "what the shim adds to a parallel region: alone, with a lease, with a message");
    app.add_flag("--death", death, "how soon the cpus of a program that is killed are another's");
    app.add_option(
        "--set", set,
        "--throughput: 6, each of them once (default); 13, at random; large, 40 at random "
        "that come one after the other; the latter two under three policies");
    app.add_option("--programs", programs, "--throughput: so many at random, whatever the set");
    app.add_option("--requests", requests, "--policies: how many; default 10000");
    app.add_option("--seed", seed, "of what is random; default: always the same");
    app.add_option("--repetitions,--reps", repetitions, "samples of each variant; default 5, or 3");
    app.add_flag("--quick", quick, "small ones, to see that it works");
    app.add_option("--json", json, "every sample as JSON lines; - for standard output");
    app.add_option("--plot", plot, "a figure, .svg or .png");
  }
};

// The sets of the paper on topology-aware OpenMP process scheduling: 13, and a large one.
ThroughputOptions throughput_options(Flags const& flags) {
  ThroughputOptions o;
  bool const is_fixed = flags.set == "6", is_large = flags.set == "large";
  if (!is_fixed && !is_large && flags.set != "13")
    refuse("--set", flags.set, "is none of 6, 13, large");
  o.repetitions = number_or("--repetitions", flags.repetitions,
                            flags.quick ? 2
                            : is_fixed  ? 5
                                        : 3,
                            1000);
  o.programs = number_or("--programs", flags.programs, is_fixed ? 0 : is_large ? 40 : 13, 1000);
  o.seed = number_or("--seed", flags.seed, o.seed, 1'000'000'000);
  o.tiny = flags.quick;
  // Sooner than they can end.
  if (is_large) o.mean_pause_seconds = o.tiny ? 0.01 : 0.4;
  // Without locality, with it, and with clustering, as there.
  if (!is_fixed) o.policies = {"simple", "nearest", "clustered-adjusting"};
  if (flags.all_policies) o.policies = {"simple", "nearest", "clustered", "clustered-adjusting"};
  return o;
}

void run(Flags const& flags) {
  long const repetitions = number_or("--repetitions", flags.repetitions, flags.quick ? 2 : 5, 1000);
  PolicyOptions policies;
  policies.repetitions = repetitions;
  policies.requests =
      number_or("--requests", flags.requests, flags.quick ? 500 : 10000, 10'000'000);
  policies.seed = number_or("--seed", flags.seed, policies.seed, 1'000'000'000);
  ThroughputOptions const throughput = throughput_options(flags);
  OverheadOptions overhead;
  overhead.repetitions = repetitions;
  if (flags.quick) overhead.regions = 20'000, overhead.messages = 20;
  DeathOptions death;
  death.repetitions = repetitions;
  if (flags.quick) death.kills = 3;
  bool const all = !flags.throughput && !flags.policies && !flags.overhead && !flags.death;
  nigh::topology const machine = live_machine();
  Report report(flags.json, flags.plot, machine);
  auto const present = [&](auto const& study, std::vector<Result> const& results, bool apart) {
    report.print((apart ? "\n" : "") + describe(study));
    report.keep(results);
  };
  if (flags.policies || all) {
    auto const study = study_policies(policies);
    present(study, results(study), false);
  }
  if (flags.throughput || all) {
    auto const study = study_throughput(throughput, machine);
    present(study, results(study), all);
  }
  if (flags.overhead || all) {
    auto const study = study_overhead(overhead);
    present(study, study.results, all);
  }
  if (flags.death || all) {
    auto const study = study_death(death, machine);
    present(study, study.results, all);
  }
  report.finish("coordinator", "a program's output is not what it is alone");
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  return run_command(
      "coordinator", "OpenMP programs that share a host, and the rules by which they get cpus",
      argc, argv, [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
