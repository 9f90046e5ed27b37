// SPDX-License-Identifier: Apache-2.0
// nigh profile: how long a program's parallel regions take with every size of team, and which of
// that is kept.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/plot.hpp"
#include "cli/profile/measure.hpp"
#include "cli/profile/show.hpp"
#include "cli/profile/store.hpp"
#include "cli/profile/study_text.hpp"
#include "cli/profile/study_options.hpp"
#include "cli/run/launch_plan.hpp"
#include "cli/tune/others_use.hpp"
#include "coordinator/protocol/cpus.hpp"
#include "platform/ending_signals.hpp"

namespace nigh::cli {
namespace {

constexpr char const* script = "profile";  // that draws

struct StudyOptions {
  StudyRuns runs;
  std::string output, figure;
  bool is_kept = true;  // unless the user says otherwise
};

struct ProfileWords {
  std::string program, region;
  int maximum = 0, optimal = 0;
  bool json = false;
};

std::vector<int> sizes_of(CLI::App const& command, StudyOptions const& o, int cpus) {
  auto sizes = team_sizes(command, o.runs, cpus);
  if (command.count("--threads") == 0 && static_cast<int>(sizes.size()) < cpus)
    say("profile", fmt::format("teams of {} sizes, not of all {}: --threads 1..{} has all",
                               sizes.size(), cpus, cpus));
  return sizes;
}

void study_program(CLI::App const& command, StudyOptions const& o,
                   std::vector<std::string> const& words) {
  if (words.empty())
    throw UsageError(
        "profile: which program? nigh profile [OPTIONS] -- PROGRAM ARGUMENTS..., or "
        "show, set, forget");
  if (!o.output.empty()) check_output(o.output);
  if (!o.figure.empty()) check_figure("--figure", o.figure, script);
  bool const is_said = command.count("--keep") > 0;
  if (o.is_kept) static_cast<void>(profile_directory());
  auto const machine = host_to_bind_to();
  auto const cpus = static_cast<int>(machine.cpus().size());
  auto const study = run_study(machine, {words, sizes_of(command, o, cpus), o.runs.repetitions});
  if (study.lost > 0)
    say("profile", fmt::format("{} runs of regions are missing: there were too many regions", study.lost));
  platform::ignore_broken_pipes();
  auto const lines = study_json(study, record_of(machine));
  if (!o.output.empty()) write_output(o.output, lines);
  if (!o.figure.empty()) draw_figure(o.figure, script, lines);
  EachWritten all;  // the counts are kept though nobody reads the text
  if (o.output != "-") all.attempt([&] { write_output("-", study_text(study)); });
  constexpr double disturbing = 0.2;
  auto const spread = widest_spread(study);
  bool const is_disturbed = spread > disturbing;
  if (is_disturbed)
    say("profile", fmt::format(
        "times differ by up to {:.0f}% from run to run: was the machine used otherwise?{}",
        100 * spread, is_said ? "" : " Not kept; --keep would"));
  auto const busy = busy_text(study.others_cpus, cpus);
  if (!busy.empty()) say("profile", busy + ": repeat it in a quiet hour");
  bool const is_single = o.runs.repetitions == 1;
  if (is_single) say("profile", "single runs: how steady the times are is not known");
  auto const doubt = is_said ? "" : is_single ? "this study is of single runs" : busy;
  if (o.is_kept && (is_said || !is_disturbed))
    for (auto const& what : store(study, cpus, words, doubt)) say("profile", what);
  all.check();
}

void add_show(CLI::App& profile) {
  auto* const command =
      profile.add_subcommand("show", "Show what is kept of all programs, or of one's regions");
  auto const o = std::make_shared<ProfileWords>();
  command->add_option("program", o->program, "Its path or name")->type_name("PROGRAM");
  command->add_flag("--json", o->json, "As JSON, for scripts");
  command->callback([o] {
    if (o->program.empty())
      show_profiles(o->json);
    else
      show_profile(o->program, o->json);
  });
}

void add_set(CLI::App& profile) {
  auto* const command =
      profile.add_subcommand("set", "Say yourself how many threads a region can use");
  auto const o = std::make_shared<ProfileWords>();
  auto const counts = CLI::Range(1, coordinator::max_cpus);
  command->add_option("program", o->program, "Its path or name")->type_name("PROGRAM")->required();
  command->add_option("region", o->region, "As 0x3df60 or cg.cpp:120")
      ->type_name("REGION")
      ->required();
  command->add_option("--maximum", o->maximum, "With more threads it gets no faster")
      ->type_name("N")
      ->required()
      ->check(counts);
  command->add_option("--optimal", o->optimal, "So many it uses well (what is known, or N)")
      ->type_name("N")
      ->check(counts);
  command->callback([o, command] {
    GivenCounts given{o->maximum, {}};
    if (command->count("--optimal") > 0) given.optimal = o->optimal;
    if (o->optimal > o->maximum)
      throw UsageError(
          fmt::format("--optimal: {} is more than the maximum, {}", o->optimal, o->maximum));
    set_region(o->program, o->region, given);
  });
}

void add_forget(CLI::App& profile) {
  auto* const command = profile.add_subcommand(
      "forget", "Forget what is known of a program, or of one of its regions");
  auto const o = std::make_shared<ProfileWords>();
  command->add_option("program", o->program, "Its path or name")->type_name("PROGRAM")->required();
  command->add_option("region", o->region, "As 0x3df60 or cg.cpp:120")->type_name("REGION");
  command->callback([o] {
    if (o->region.empty())
      forget_program(o->program);
    else
      forget_region(o->program, o->region);
  });
}

}  // namespace

void add_profile(CLI::App& app, std::vector<std::string> const& program) {
  auto* const command = app.add_subcommand(
      "profile",
      "Measure a program's parallel regions with every size of team: nigh profile [OPTIONS] -- "
      "PROGRAM ARGUMENTS...; show, set or forget what is known");
  auto const o = std::make_shared<StudyOptions>();
  add_study_options(*command, o->runs);
  command
      ->add_option("-o,--output", o->output, "Write the measurements into this file, a JSON line each")
      ->type_name("FILE.json");
  command->add_option("--figure", o->figure, "Draw speedup by threads into this file")
      ->type_name("FILE.svg|.png");
  command->add_flag("--keep,!--no-keep", o->is_kept,
                    "Keep the counts in the program's profile, or do not (if times are steady)");
  command->require_subcommand(0, 1);
  add_show(*command);
  add_set(*command);
  add_forget(*command);
  command->callback([command, o, &program] {
    if (command->get_subcommands().empty()) study_program(*command, *o, program);
  });
}

}  // namespace nigh::cli
