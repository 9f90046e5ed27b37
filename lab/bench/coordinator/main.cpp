// SPDX-License-Identifier: Apache-2.0
// nigh bench coordinator: programs that share a host, and the rules by which they are given cpus.
#include <CLI/CLI.hpp>
#include <optional>

#include "bench/benchmark.hpp"
#include "bench/coordinator/commands.hpp"
#include "bench/coordinator/studies.hpp"
#include "bench/options.hpp"

namespace {

using namespace bench;

struct CoordinatorFlags : Flags {
  bool throughput = false, policies = false, overhead = false, death = false, queue = false;
  bool all_policies = false, alone = false;
  std::optional<long> programs, requests, seed, limit;
  std::vector<std::string> commands, ways, beside, ignored;
  std::string set = "6", commands_file;
};

// The sets of the paper on topology-aware OpenMP process scheduling: 13, and a large one.
ThroughputOptions throughput_options(CoordinatorFlags const& flags) {
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

std::optional<CommandOptions> command_options(CoordinatorFlags const& flags) {
  if (flags.commands.empty() && flags.commands_file.empty()) {
    auto const need = [](char const* option, bool given) {
      if (given) throw UsageError(std::string(option) + ": needs --command or --commands");
    };
    need("--alone", flags.alone);
    need("--way", !flags.ways.empty());
    need("--beside", !flags.beside.empty());
    need("--ignore", !flags.ignored.empty());
    need("--limit", flags.limit.has_value());
    return {};
  }
  CommandOptions o;
  o.commands = user_commands(flags.commands, flags.commands_file);
  o.ways = command_ways(flags.ways);
  o.beside = user_commands("--beside", flags.beside);
  o.ignored = flags.ignored;
  static_cast<void>(OutputHash(o.ignored));  // refused before anything runs
  o.alone = flags.alone;
  o.repetitions = number_or("--repetitions", flags.repetitions, flags.quick ? 2 : 5, 1000);
  o.limit_seconds = number_or("--limit", flags.limit, o.limit_seconds, 1'000'000);
  return o;
}

// With a blank line before what follows another part.
template <class Study>
Findings shown(Study const& study, std::vector<Result> results, bool follows) {
  return {(follows ? "\n" : "") + describe(study), std::move(results)};
}

Plan plan_of(CoordinatorFlags const& flags, nigh::topology const& machine) {
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
  Plan plan{&machine};
  auto const add = [&](bool wanted, std::function<Findings()> part) {
    if (wanted) plan.parts.push_back(std::move(part));
  };
  add(commands.has_value(), [commands] {
    auto const study = study_commands(*commands);
    return shown(study, results(study), false);
  });
  add(flags.policies || all, [policies] {
    auto const study = study_policies(policies);
    return shown(study, results(study), false);
  });
  add(flags.throughput || all, [throughput, &machine, all] {
    auto const study = study_throughput(throughput, machine);
    return shown(study, results(study), all);
  });
  add(flags.overhead || all, [overhead, all] {
    auto const study = study_overhead(overhead);
    return shown(study, study.results, all);
  });
  add(flags.death || all, [death, &machine, all] {
    auto const study = study_death(death, machine);
    return shown(study, study.results, all);
  });
  add(flags.queue || all, [queue, all] {
    auto const study = study_queue(queue);
    return shown(study, study.results, all);
  });
  return plan;
}

}  // namespace

int main(int argc, char** argv) {
  CoordinatorFlags f;
  std::optional<nigh::topology> machine;
  return run_benchmark(
      {.name = "coordinator",
       .measures = "OpenMP programs that share a host, and the rules by which they get cpus",
       .wrong =
           "an output is not that of the program alone or without nigh, or a command has failed",
       .samples = "each variant; default 5, or 3",
       .quick = "small ones",
       .process = Benchmark::Process::plain,
       .options =
           [&](CLI::App& app) {
             app.add_flag("--throughput", f.throughput,
                          "programs in turn, all at once, and all at once under the coordinator");
             app.add_flag("--policies", f.policies,
                          "which cpus each policy gives to semi-random requests, and how soon");
             app.add_flag(
                 "--all-policies", f.all_policies,
                 "--throughput: the coordinator under each policy, not only under its usual one");
             app.add_flag(
                 "--overhead", f.overhead,
                 "what the shim adds to a parallel region: alone, with a lease, with a message");
             app.add_flag("--death", f.death,
                          "how soon the cpus of a program that is killed are another's");
             app.add_flag("--queue", f.queue,
                          "what a message costs the coordinator while ten to 16,000 requests wait");
             // One text each: what follows the first is not one more.
             app.add_option(
                    "--command", f.commands,
                    "a command of yours; again for more: without nigh all at once (default), one "
                    "after the other (sequential), with OMP_NUM_THREADS=1 (one-thread), with "
                    "OMP_WAIT_POLICY=passive (passive), and under nigh run (nigh)")
                 ->type_name("COMMAND")
                 ->allow_extra_args(false);
             app.add_option("--commands", f.commands_file, "the same from a file, a command a line")
                 ->type_name("FILE");
             app.add_flag("--alone", f.alone,
                          "--command: each of them alone, too, without nigh and with it");
             app.add_option(
                    "--way", f.ways,
                    "--command: NAME=VARIABLE=VALUE[,VARIABLE=VALUE...], all at once with these; "
                    "under nigh run if NAME begins with nigh; again for more")
                 ->type_name("WAY")
                 ->allow_extra_args(false);
             app.add_option(
                    "--beside", f.beside,
                    "--command: a command that runs beside each sample, without nigh, begun anew "
                    "when it ends; again for more")
                 ->type_name("COMMAND")
                 ->allow_extra_args(false);
             app.add_option(
                    "--ignore", f.ignored,
                    "--command: outputs are compared without lines that match this extended "
                    "regular expression; again for more")
                 ->type_name("REGEX")
                 ->allow_extra_args(false);
             app.add_option("--limit", f.limit, "--command: seconds for a sample; default 600");
             app.add_option("--set", f.set,
                            "--throughput: 6, each of them once (default); 13, at random; large, "
                            "40 at random "
                            "that come one after the other; the latter two under three policies")
                 ->type_name("SET");
             app.add_option("--programs", f.programs,
                            "--throughput: so many at random, whatever the set");
             app.add_option("--requests", f.requests, "--policies: how many; default 10000");
             app.add_option("--seed", f.seed, "of what is random; default: always the same")
                 ->check(CLI::Range(0, 1'000'000'000));
           },
       .plan = [&]() -> Plan {
         machine = live_machine();
         return plan_of(f, *machine);
       }},
      f, argc, argv);
}
