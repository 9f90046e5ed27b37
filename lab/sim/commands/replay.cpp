// SPDX-License-Identifier: Apache-2.0
// nigh sim run: a recorded run done again on another machine, with several policies.

#include "sim/replay/replay.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/installed_files.hpp"
#include "cli/program_main.hpp"
#include "cli/program_output.hpp"
#include "platform/launch.hpp"
#include "platform/program.hpp"
#include "sim/commands/sim.hpp"
#include "sim/json_lines.hpp"
#include "tune/standings.hpp"

namespace nigh::cli {
namespace {

struct ReplayFlags {
  std::string machine, recorded_on, trace;
  std::vector<std::string> policies;
  int workers = 0;
  SimSeeds random;
  bool check = false;
  SimOutput output{"sim_run", {}, {}};
};

struct Replayed {
  sim::ReplayPolicy policy;
  std::vector<sim::ReplayOutcome> outcomes;  // one a seed

  template <class Number>
  double median(Number number) const {
    std::vector<double> all;
    for (auto const& o : outcomes) all.push_back(static_cast<double>(number(o)));
    return tune::median(all);
  }
  double seconds() const {
    return median([](auto const& o) { return o.seconds; });
  }
};

// As nigh sim calibrate writes it.
sim::Machine this_machine() {
  auto const program = libexec_file("nigh-calibrate").string();
  auto const [status, text] = [&] {
    ProgramOutput const file;  // gone before ^C ends this process, too
    auto ended = platform::run_program({program, "--output", file.path().string()}, {});
    return std::pair(std::move(ended), file.text());
  }();
  constexpr int by_signal = 128, interrupt = 2;  // ^C was for the child
  if (status && *status == by_signal + interrupt) platform::die_of(interrupt);
  if (!status || *status != 0)
    throw std::runtime_error("sim: this machine could not be measured: nigh sim calibrate failed");
  auto machine = sim::parse_machine("this-machine.json", text);
  if (!machine) throw std::runtime_error("sim: " + machine.message());
  return std::move(machine).value();
}

sim::RecordedRun recorded(std::string const& file) {
  auto const text = sim::read_text(file, sim::largest_trace);
  if (!text) throw UsageError("--trace: " + text.message());
  auto run = sim::parse_recorded(*text);
  if (!run) throw UsageError("--trace: " + file + " " + run.message());
  return std::move(run).value();
}

std::vector<sim::ReplayPolicy> policies_named(std::vector<std::string> const& names) {
  auto const& all = sim::replay_policies();
  if (names.empty()) return all;
  std::vector<sim::ReplayPolicy> some;
  for (auto const& name : names)
    some.push_back(
        *std::find_if(all.begin(), all.end(), [&](auto const& p) { return p.name == name; }));
  return some;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (auto const& p : sim::replay_policies()) names.push_back(p.name);
  return names;
}

double least(std::vector<Replayed> const& all) {
  double s = all.front().seconds();
  for (auto const& r : all) s = std::min(s, r.seconds());
  return s;
}

std::string describe(sim::RecordedRun const& run, sim::Machine const& machine, int workers,
                     std::vector<Replayed> const& all, ReplayFlags const& f) {
  std::string text = fmt::format(
      "{}, recorded with {} workers: {:.4g} s, {} pieces in {} phases\non {}, {} workers; medians "
      "of {} seeds; * the best\n",
      run.program, run.workers, run.seconds, run.pieces.size(), run.pauses.size() + 1,
      machine.title, workers, f.random.seeds);
  if (machine.hosts.value > 1)
    text += fmt::format(
        "one of its {:.0f} hosts: a trace is of one runtime, which has the cpus of one host\n",
        machine.hosts.value);
  text += fmt::format("\n{:18}{:>12}{:>9}{:>9}{:>9}{:>10}{:>9}\n", "", "seconds", "times", "idle",
                      "remote", "steals", "abroad");
  double const best = least(all);
  for (auto const& r : all)
    text +=
        fmt::format("{:18}{:>11.4g}{}{:>9.2f}{:>8.1f}%{:>8.1f}%{:>10.0f}{:>9.0f}\n", r.policy.name,
                    r.seconds(), r.seconds() <= best ? '*' : ' ', run.seconds / r.seconds(),
                    100 * std::max(0.0, r.median([](auto const& o) { return o.idle_share; })),
                    100 * r.median([](auto const& o) { return o.remote_share; }),
                    r.median([](auto const& o) { return o.steals; }),
                    r.median([](auto const& o) { return o.taken_abroad; }));
  if (auto const chain = run.chain_s();
      workers > 1 && (chain > 1.01 * run.work_s() / workers || chain > 1.05 * run.seconds))
    text += fmt::format(
        "\nNot to be relied on: the longest chain of pieces takes {:.4g} s of {:.4g} s of work. "
        "What a piece\n"
        "forks begins when it ends, a thousand forks later: long tasks may come out slower than "
        "they are.\n",
        chain, run.work_s());
  if (f.check)
    text += fmt::format("\nmeasured {:.4g} s, simulated {:.4g} s: {:+.1f}%\n", run.seconds,
                        all.front().seconds(), 100 * (all.front().seconds() / run.seconds - 1));
  return text;
}

std::string result_lines(sim::RecordedRun const& run, sim::Machine const& machine, int workers,
                         std::vector<Replayed> const& all, ReplayFlags const& f) {
  std::string text;
  for (auto const& r : all) {
    SimResult line;
    line.bench = "sim/run";
    line.variant = r.policy.name;
    line.params = {{"workers", workers}, {"seed", static_cast<long>(f.random.seed)}};
    line.settings = {{"machine", machine.name}, {"program", run.program}};
    line.metric = "time";
    line.unit = "s";
    for (auto const& o : r.outcomes) line.samples.push_back(o.seconds);
    line.counters = {{"recorded_s", run.seconds},
                     {"recorded_workers", run.workers},
                     {"idle_share", r.median([](auto const& o) { return o.idle_share; })},
                     {"remote_share", r.median([](auto const& o) { return o.remote_share; })},
                     {"steals", r.median([](auto const& o) { return o.steals; })},
                     {"abroad", r.median([](auto const& o) { return o.taken_abroad; })}};
    text += json_line(line, machine);
  }
  return text;
}

void run(ReplayFlags const& f) {
  f.output.check();
  f.output.keep_apart_from("--trace", f.trace);
  f.output.keep_apart_from("--machine", f.machine);
  f.output.keep_apart_from("--recorded-on", f.recorded_on);
  auto const run = recorded(f.trace);
  auto const machine = f.machine.empty() ? this_machine() : machine_for("--machine", f.machine);
  std::optional<sim::Machine> source;
  if (!f.recorded_on.empty()) source = machine_for("--recorded-on", f.recorded_on);
  auto const most = static_cast<int>(machine.shape.cpus().size());
  int const workers = f.workers > 0 ? f.workers : f.check ? run.workers : machine.shape.cores();
  if (workers > most)
    throw UsageError(fmt::format("--{}: {} workers, but {} has {} cpus",
                                 f.workers > 0 ? "workers" : "check", workers, machine.name, most));
  std::vector<Replayed> all;
  for (auto const& policy : policies_named(f.policies)) {
    all.push_back({policy, {}});
    for (int s = 0; s < f.random.seeds; ++s)
      all.back().outcomes.push_back(sim::replay(run, {machine, source ? *source : machine, workers},
                                                policy,
                                                f.random.seed + static_cast<std::uint64_t>(s)));
  }
  auto const text = describe(run, machine, workers, all, f);
  auto const lines = result_lines(run, machine, workers, all, f);
  f.output.write(text, lines);
}

}  // namespace

void add_sim_run(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "run",
      "What a recorded program would gain elsewhere: nigh sim run --trace FILE --machine NAME");
  auto const f = std::make_shared<ReplayFlags>();
  command->add_option("--trace", f->trace, "A run as nigh trace has recorded it")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--machine", f->machine,
                   "A machine, or a file of one (this one, measured as by nigh sim calibrate)")
      ->type_name("NAME");
  command
      ->add_option("--recorded-on", f->recorded_on,
                   "The machine it was recorded on (the same), for how fast memory was")
      ->type_name("NAME");
  command->add_option("--policy", f->policies, "Only these policies")
      ->type_name("NAME...")
      ->check(CLI::IsMember(policy_names()));
  command
      ->add_option("--workers", f->workers, "So many (one for each core; with --check as recorded)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_flag("--check", f->check, "Say how far the simulated time is from the recorded one");
  f->random.add_to(*command);
  f->output.add_to(*command);
  command->callback([f] { run(*f); });
}

}  // namespace nigh::cli
