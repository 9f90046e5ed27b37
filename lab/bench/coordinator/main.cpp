// SPDX-License-Identifier: Apache-2.0
// nigh bench coordinator: programs that share a host, and the rules by which they are given cpus.
#include <CLI/CLI.hpp>
#include <optional>

#include "bench/command.hpp"
#include "bench/coordinator/command_study.hpp"
#include "bench/coordinator/commands.hpp"
#include "bench/coordinator/death.hpp"
#include "bench/coordinator/overhead.hpp"
#include "bench/coordinator/policies.hpp"
#include "bench/coordinator/queue.hpp"
#include "bench/coordinator/throughput.hpp"
#include "bench/options.hpp"
#include "bench/report.hpp"

namespace {

using namespace bench;

struct Flags {
  bool throughput = false, policies = false, overhead = false, death = false, queue = false;
  bool all_policies = false, alone = false, quick = false;
  std::optional<long> repetitions, programs, requests, seed, limit;
  std::vector<std::string> commands, ways, ignored;
  std::string set = "6", commands_file, json, plot;

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
    app.add_flag("--queue", queue,
                 "what a message costs the coordinator while ten to 16,000 requests wait");
    // One text each: what follows the first is not one more.
    app.add_option("--command", commands,
                   "a command of yours; again for more: without nigh all at once (default), one "
                   "after the other (sequential), with OMP_NUM_THREADS=1 (one-thread), with "
                   "OMP_WAIT_POLICY=passive (passive), and under nigh run (nigh)")
        ->allow_extra_args(false);
    app.add_option("--commands", commands_file, "the same from a file, a command a line");
    app.add_flag("--alone", alone, "--command: each of them alone, too, without nigh and with it");
    app.add_option("--way", ways,
                   "--command: NAME=VARIABLE=VALUE[,VARIABLE=VALUE...], all at once with these; "
                   "under nigh run if NAME begins with nigh; again for more")
        ->allow_extra_args(false);
    app.add_option("--ignore", ignored,
                   "--command: outputs are compared without lines that match this extended "
                   "regular expression; again for more")
        ->allow_extra_args(false);
    app.add_option("--limit", limit, "--command: seconds for a sample; default 600");
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

std::optional<CommandOptions> command_options(Flags const& flags) {
  if (flags.commands.empty() && flags.commands_file.empty()) {
    auto const need = [](char const* option, bool given) {
      if (given) throw UsageError(std::string(option) + ": needs --command or --commands");
    };
    need("--alone", flags.alone);
    need("--way", !flags.ways.empty());
    need("--ignore", !flags.ignored.empty());
    need("--limit", flags.limit.has_value());
    return {};
  }
  CommandOptions o;
  o.commands = user_commands(flags.commands, flags.commands_file);
  o.ways = command_ways(flags.ways);
  o.ignored = flags.ignored;
  static_cast<void>(OutputHash(o.ignored));  // refused before anything runs
  o.alone = flags.alone;
  o.repetitions = number_or("--repetitions", flags.repetitions, flags.quick ? 2 : 5, 1000);
  o.limit_seconds = number_or("--limit", flags.limit, o.limit_seconds, 1'000'000);
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
  auto const commands = command_options(flags);
  QueueOptions queue;
  queue.repetitions = repetitions;
  if (flags.quick) queue.messages = 500;
  bool const all = !flags.throughput && !flags.policies && !flags.overhead && !flags.death &&
                   !flags.queue && !commands;
  nigh::topology const machine = live_machine();
  Report report(flags.json, flags.plot, machine);
  auto const present = [&](auto const& study, std::vector<Result> const& results, bool apart) {
    report.print((apart ? "\n" : "") + describe(study));
    report.keep(results);
  };
  if (commands) {
    auto const study = study_commands(*commands);
    present(study, results(study), false);
  }
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
  if (flags.queue || all) {
    auto const study = study_queue(queue);
    present(study, study.results, all);
  }
  report.finish("coordinator",
                commands ? "an output under nigh is not the one without it, or a command has failed"
                         : "a program's output is not what it is alone");
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  return run_command(
      "coordinator", "OpenMP programs that share a host, and the rules by which they get cpus",
      argc, argv, [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
