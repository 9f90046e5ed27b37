// SPDX-License-Identifier: Apache-2.0
// nigh tune: runs a program in many configurations, and says which one is best.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/plot.hpp"
#include "cli/run/launch_plan.hpp"
#include "cli/run/plan.hpp"
#include "cli/run/profile.hpp"
#include "cli/run/rank_binding.hpp"
#include "cli/tune/kept_profile.hpp"
#include "cli/tune/launcher.hpp"
#include "cli/tune/metric.hpp"
#include "cli/tune/others_use.hpp"
#include "cli/tune/outcome.hpp"
#include "cli/tune/ranks.hpp"
#include "cli/tune/space.hpp"
#include "cli/tune/tuning.hpp"
#include "platform/binary_identity.hpp"
#include "platform/cgroup.hpp"
#include "platform/ending_signals.hpp"
#include "platform/identity_hash.hpp"
#include "platform/launch.hpp"
#include "platform/program.hpp"
#include "platform/system_name.hpp"

namespace nigh::cli {
namespace {

struct TuneOptions {
  std::vector<std::string> threads, binds, memories, schedules, ranks, rank_orders;
  std::string metric, budget = "10m", output = "nigh-profile.json", json, plot;
  bool maximize = false, exhaustive = false, force = false;
  int repetitions = 5, hosts = 1;
  std::uint64_t seed = 1;
};

template <class T>
std::vector<T> parsed(char const* option, std::vector<std::string> const& texts,
                      result<T> (*parse)(std::string_view)) {
  std::vector<T> values;
  for (auto const& text : texts) {
    auto value = parse(text);
    if (!value) throw UsageError(std::string(option) + ": " + value.message());
    values.push_back(std::move(value).value());
  }
  return values;
}

Metric metric_of(CLI::App const& command, TuneOptions const& o) {
  if (command.count("--metric") == 0) {
    if (o.maximize) throw UsageError("--maximize needs --metric: less time is always better");
    return {};
  }
  auto metric = Metric::in_output(o.metric, o.maximize);
  if (!metric) throw UsageError("--metric: " + metric.message());
  return std::move(metric).value();
}

constexpr char const* figure_script = "tune";  // that draws

// A program to tune.
struct Subject {
  std::string name;
  Space space;
  Tuning::MakeLaunch make_launch;
  // Writes the results; the last line.
  std::function<std::string(Outcome const& found, int best)> conclude;
};

// Another one when the program has changed; 0: nobody knows. Scripts are no binaries.
std::uint64_t identity_of(std::filesystem::path const& program) {
  if (auto const binary = platform::binary_identity(program.c_str())) return binary;
  std::error_code failed;
  auto const size = std::filesystem::file_size(program, failed);
  if (failed) return 0;
  auto const changed = std::filesystem::last_write_time(program, failed).time_since_epoch().count();
  platform::IdentityHash hash;
  hash.add(&size, sizeof size);
  hash.add(&changed, sizeof changed);
  return hash.value();
}

// How the chosen configuration was measured.
Measurement measurement_of(Outcome const& found, int best, std::vector<std::string> const& words,
                           bool is_maximized) {
  Measurement m;
  m.words = words;
  m.binary = identity_of(platform::find_program(words.front()));
  m.metric = found.metric.name();
  m.is_maximized = is_maximized;
  for (auto const& s : found.search.standings()) {
    if (s.candidate != best) continue;
    m.value = found.metric.value_of_cost(s.cost);
    std::tie(m.low, m.high) = std::minmax(
        {found.metric.value_of_cost(s.low), found.metric.value_of_cost(s.high)});
    m.runs = s.runs;
  }
  auto const choice = found.choice();
  m.is_sure = choice.is_repeated && choice.candidate == choice.leader && !found.is_disturbed();
  m.others_cpus = found.others_cpus;
  m.cpus = found.cpus;
  m.date = platform::now_utc();
  return m;
}

void refuse(CLI::App const& command, std::vector<char const*> const& options,
            std::string const& why) {
  for (auto const* option : options)
    if (command.count(option) > 0) throw UsageError(option + (": " + why));
}

Subject program_of(CLI::App const& command, TuneOptions const& o, Choices const& choices,
                   topology const& machine, std::vector<std::string> const& words) {
  refuse(command, {"--ranks", "--bind-ranks", "--hosts"},
         "is for launchers of MPI programs, as in nigh tune -- mpirun -n {ranks} ./app");
  if (!o.output.empty()) check_output(o.output);
  if (!o.force && !o.output.empty() && holds_no_profile(o.output))
    throw UsageError("--output: " + o.output + " is there, and no profile: --force replaces it");
  auto const elf = platform::read_elf(platform::find_program(words.front()));
  auto space = space_of(machine, choices, elf ? hears(*elf) : Hears::all, from_environment,
                        platform::own_cpu_quota());
  if (!space) throw UsageError(space.message());
  if (is_launcher(words.front()))
    space->notes.push_back("all ranks of " + words.front() +
                           " get the same cpus so; {ranks} for their number gives each its own");
  auto const requests = space->requests;
  auto const shim = shim_for(words.front());
  auto const make_launch = [&machine, requests, shim, words](int candidate) {
    auto const plan =
        make_plan(machine, requests[static_cast<std::size_t>(candidate)], from_environment);
    auto launch = launch_of(plan.value(), shim, words);
    launch.strict = true;  // a policy that is not in force would be measured under a wrong name
    return launch;
  };
  auto const conclude = [&machine, &o, requests, words](Outcome const& found,
                                                        int best) -> std::string {
    auto const file =
        write_profile(o.output,
                      profile_json(requests[static_cast<std::size_t>(best)], shape_of(machine)),
                      measurement_of(found, best, words, o.maximize), o.force);
    if (file == "-") return {};
    return fmt::format("Profile in {}{}: nigh run --profile {} -- {}\n", file,
                       best == 0 ? ", which sets nothing" : "", as_shell_words({file}),
                       as_shell_words(words));
  };
  return {words.front(), std::move(space).value(), make_launch, conclude};
}

// As a shell finds us; on other hosts only our file's name tells which program is meant.
std::string this_word(int hosts) {
  auto const here = platform::this_program();
  std::error_code failed;
  bool const is_found =
      hosts == 1 && std::filesystem::equivalent(platform::find_program("nigh"), here, failed);
  return is_found ? "nigh" : here.string();
}

Subject ranks_of(CLI::App const& command, TuneOptions const& o, Choices const& choices,
                 topology const& machine, LauncherLine const& line) {
  refuse(command, {"--bind"}, "ranks are bound by --bind-ranks");
  refuse(command, {"--output", "--force"}, "what is found for a launcher is a command line, not a profile");
  auto space = space_of_ranks(machine, choices, from_environment, platform::own_cpu_quota());
  if (!space) throw UsageError(space.message());
  if (line.is_guessed())
    space->notes.push_back("the ranks run " + line.program() +
                           "; if that is wrong, write {run} before their program");
  auto const words = [line, hosts = o.hosts, nigh = this_word(o.hosts), requests = space->requests,
                      ranks = space->ranks](int candidate) {
    auto const i = static_cast<std::size_t>(candidate);
    return line.words(values_of(requests[i], ranks[i], hosts, nigh));
  };
  auto const make_launch = [words](int candidate) { return launch_of({}, {}, words(candidate)); };
  auto const conclude = [words](Outcome const&, int best) {
    return "Run it so: " + as_shell_words(words(best)) + '\n';
  };
  return {line.program(), std::move(space).value(), make_launch, conclude};
}

Subject subject_of(CLI::App const& command, TuneOptions const& o, topology const& machine,
                   std::vector<std::string> const& words) {
  Choices const choices{parsed("--threads", o.threads, parse_threads),
                        parsed("--bind", o.binds, parse_binding),
                        parsed("--mem", o.memories, parse_memory),
                        parsed("--schedule", o.schedules, parse_loops),
                        parsed("--ranks", o.ranks, parse_ranks),
                        parsed("--bind-ranks", o.rank_orders, parse_rank_order)};
  auto const line = LauncherLine::parse(words, [](std::string const& word) {
    return platform::is_runnable(platform::find_program(word));
  });
  if (!line) throw UsageError("tune: " + line.message());
  return *line ? ranks_of(command, o, choices, machine, **line)
               : program_of(command, o, choices, machine, words);
}

void tune_program(CLI::App const& command, TuneOptions const& o,
                  std::vector<std::string> const& words) {
  if (words.empty())
    throw UsageError("tune: which program? nigh tune [OPTIONS] -- PROGRAM ARGUMENTS...");
  auto const budget = parse_duration(o.budget);
  if (!budget) throw UsageError("--budget: " + budget.message());
  auto metric = metric_of(command, o);
  if (!o.plot.empty()) check_figure("--plot", o.plot, figure_script);
  if (!o.json.empty()) check_output(o.json);
  auto const machine = host_to_bind_to();
  auto const subject = subject_of(command, o, machine, words);
  for (auto const& note : subject.space.notes) say("tune", note);

  Tuning tuning(subject.space, std::move(metric), *budget, subject.make_launch,
                {o.repetitions, o.seed, o.exhaustive});
  int const signal = tuning.run();
  auto const found = tuning.outcome();
  if (auto const failure = tuning.failure(); !failure.empty()) {
    say("tune", failure);
    throw ExitStatus{tuning.failure_status()};
  }
  auto const table = found.search.standings();
  if (table.empty()) {
    say("tune", signal > 0 ? "interrupted before the first run ended"
                   : "the first run did not end within the budget of " + o.budget);
    throw ExitStatus{signal > 0 ? 128 + signal : 1};
  }
  platform::ignore_broken_pipes();
  // Files come first: nobody may be left who reads what is printed.
  EachWritten all;
  std::string last_line;
  auto const lines = results_json(found, subject.name, machine);
  auto const write_json = [&] { write_output(o.json, lines); };
  auto const conclude = [&] { last_line = subject.conclude(found, found.choice().candidate); };
  bool const json_is_file = !o.json.empty() && o.json != "-", profile_is_file = o.output != "-";
  if (json_is_file) all.attempt(write_json);
  if (profile_is_file) all.attempt(conclude);
  all.attempt([&] { write_output("-", ranking_text(found)); });
  if (auto const busy = busy_text(found.others_cpus, found.cpus); !busy.empty())
    say("tune", busy + ": repeat it in a quiet hour");
  if (o.json == "-") all.attempt(write_json);
  if (!profile_is_file) all.attempt(conclude);
  std::fputs(last_line.c_str(), stdout);
  std::fflush(stdout);
  if (!o.plot.empty()) all.attempt([&] { draw_figure(o.plot, figure_script, lines); });
  all.check();
  if (signal > 0) throw ExitStatus{128 + signal};
}

}  // namespace

void add_tune(CLI::App& app, std::vector<std::string> const& program) {
  auto* const command = app.add_subcommand(
      "tune",
      "Find the best options of nigh run for a program, or the best ranks and threads: nigh "
      "tune [OPTIONS] -- PROGRAM ARGUMENTS...");
  auto const o = std::make_shared<TuneOptions>();
  auto const several = [command](char const* name, std::vector<std::string>& into, char const* what,
                                 char const* type) {
    command->add_option(name, into, what)->type_name(type)->expected(1)->allow_extra_args(false)->take_all();
  };
  several("--threads", o->threads,
          "Try these numbers of threads; may be given several times, as may the next", "N");
  several("--bind", o->binds, "Try these bindings (compact, scatter)", "HOW");
  several("--mem", o->memories, "Try these memory policies (first-touch, interleave)", "POLICY");
  several("--schedule", o->schedules, "Try these schedules", "KIND");
  several("--ranks", o->ranks, "Of an MPI program, in mpirun -n {ranks}: try so many on each host",
          "N");
  several("--bind-ranks", o->rank_orders, "Of an MPI program: try these orders (compact, scatter)",
          "HOW");
  command->add_option("--hosts", o->hosts, "On how many hosts the launcher starts ranks (1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--budget", o->budget, "Stop after that time: 90s, 10m, 2h; a number alone is seconds (10m)")
      ->type_name("TIME");
  command
      ->add_option("--metric", o->metric,
                   "Compare the number that the first group of this regular expression finds in "
                   "the output (wall time)")
      ->type_name("REGEX");
  command->add_flag("--maximize", o->maximize, "Of the metric, more is better");
  command->add_option("--repetitions", o->repetitions, "How often finalists run (5)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--exhaustive", o->exhaustive, "Run every configuration as often as finalists");
  command->add_option("--seed", o->seed, "Of the order of runs (1)")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000));
  command->add_option("-o,--output", o->output, "Where to write the profile (nigh-profile.json)")
      ->type_name("FILE");
  command->add_option("--json", o->json, "Write the measurements into this file, a JSON line each")
      ->type_name("FILE");
  command->add_flag("--force", o->force, "Replace a profile that was measured better, too");
  command->add_option("--plot", o->plot, "Draw time by threads into this file (matplotlib)")
      ->type_name("FILE.svg|.png");
  command->callback([command, o, &program] { tune_program(*command, *o, program); });
}

}  // namespace nigh::cli
