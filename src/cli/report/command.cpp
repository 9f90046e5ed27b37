// SPDX-License-Identifier: Apache-2.0
// nigh report: a program, or results of other commands, as one HTML file.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/machine_facts.hpp"
#include "cli/output_file.hpp"
#include "cli/profile/measure.hpp"
#include "cli/profile/study_options.hpp"
#include "cli/report/budget.hpp"
#include "cli/report/document.hpp"
#include "cli/report/observe.hpp"
#include "cli/report/page.hpp"
#include "cli/report/result_files.hpp"
#include "cli/run/launch_plan.hpp"
#include "cli/tune/metric.hpp"
#include "platform/elf_functions.hpp"
#include "platform/launch.hpp"
#include "platform/program.hpp"

namespace nigh::cli {
namespace {

struct ReportOptions {
  std::string output = "nigh-report.html", title, budget = "10m";
  std::vector<std::string> files;
  StudyRuns runs;
  bool no_scaling = false, force = false;
};

ScalingRuns wanted_runs(CLI::App const& command, ReportOptions const& o, int cpus) {
  return {team_sizes(command, o.runs, cpus), o.runs.repetitions};
}

// Without the program's folder.
std::string short_command(std::vector<std::string> words) {
  words.front() = std::filesystem::path(words.front()).filename().string();
  return as_shell_words(words);
}

bool may_have_regions(std::string const& program, Observed const& observed) {
  return observed.has_openmp ||
         platform::defines_any(platform::find_program(program).c_str(),
                               platform::openmp_functions) == platform::Defined::yes;
}

constexpr int of_signals = 128;

// Why the program is not run again; empty: it may be.
std::string why_once(Observed const& observed) {
  if (observed.ending.signal > 0)
    return fmt::format("signal {} ended the program", observed.ending.signal);
  if (observed.ending.status != 0)
    return fmt::format("the program ended with status {}", observed.ending.status);
  return {};
}

// The runs that a report makes besides the one that its user sees.
class MoreRuns {
 public:
  MoreRuns(topology const& machine, ProgramReport& report, ScalingRuns wanted, double budget_s)
      : machine_(machine), report_(report), wanted_(std::move(wanted)), budget_s_(budget_s) {}

  void all() {
    auto const& observed = *report_.observed;
    auto const once = why_once(observed);
    if (!once.empty() || !may_have_regions(report_.words.front(), observed)) {
      auto const why =
          once.empty() ? "no OpenMP runtime was seen in it, and its file links to none" : once;
      report_.why_no_study = why;
      if (!report_.tasks)
        report_.why_no_tasks = once.empty() ? "it has no nigh runtime and no OpenMP" : once;
      return;
    }
    try {
      study();
      if (!report_.tasks) trace();
    } catch (ExitStatus const& end) {
      if (end.code > of_signals) interrupted_ = end.code;
      report_.why_no_study =
          end.code > of_signals ? "interrupted" : "the program failed in one of the runs";
      if (!report_.tasks) report_.why_no_tasks = report_.why_no_study;
    }
  }
  int interrupted() const { return interrupted_; }

 private:
  void study() {
    auto const cpus = static_cast<int>(machine_.cpus().size());
    auto const seconds = report_.observed->ending.seconds;
    auto const runs = within_budget(wanted_, seconds, cpus, budget_s_);
    if (runs.sizes.empty()) {
      report_.why_no_study =
          fmt::format("a run takes {:.0f} s, and the budget is {:.0f} s", seconds, budget_s_);
      return;
    }
    if (runs.sizes != wanted_.sizes || runs.repetitions != wanted_.repetitions)
      say("report", fmt::format("fewer runs, to end within the budget: {} sizes of teams, {} each",
                                runs.sizes.size(), runs.repetitions));
    try {
      report_.study = run_study(machine_, {report_.words, runs.sizes, runs.repetitions});
    } catch (std::runtime_error const& error) {
      report_.why_no_study = without_prefix(error.what());
    }
  }

  void trace() {
    if (report_.observed->ending.seconds > 2) say("report", "once more, its tasks run by nigh");
    auto traced = trace_openmp_tasks(report_.words);
    if (traced)
      report_.tasks = std::move(traced).value();
    else
      report_.why_no_tasks = traced.message();
  }

  static std::string without_prefix(std::string what) {
    constexpr std::string_view prefix = "profile: ";
    return what.starts_with(prefix) ? what.substr(prefix.size()) : what;
  }

  topology const& machine_;
  ProgramReport& report_;
  ScalingRuns wanted_;
  double budget_s_;
  int interrupted_ = 0;
};

void report_program(CLI::App const& command, ReportOptions const& o,
                    std::vector<std::string> const& words) {
  auto const budget = parse_duration(o.budget);
  if (!budget) throw UsageError("--budget: " + budget.message());
  auto const machine = host_to_bind_to();
  auto const wanted = wanted_runs(command, o, static_cast<int>(machine.cpus().size()));
  Page const page(o.output, o.force);
  ProgramReport report;
  report.words = words;
  report.title = o.title.empty() ? short_command(words) : o.title;
  report.findings = diagnose(facts_of(machine));
  auto const why_not = o.no_scaling ? why_not_timed(machine, words.front()) : "";
  auto observed = observe(machine, words, o.no_scaling && why_not.empty());
  report.observed = &observed;
  platform::SignalsHeld const until_the_page_is_written;
  report.tasks = std::move(observed.tasks);
  int interrupted = 0;
  if (o.no_scaling) {
    report.study = observed.study;
    if (!report.study)
      report.why_no_study = why_not.empty() ? "no parallel region ended in it" : why_not;
    if (!report.tasks)
      report.why_no_tasks =
          "its tasks are shown by further runs only (--no-scaling leaves these out)";
  } else {
    MoreRuns more(machine, report, wanted, std::chrono::duration<double>(*budget).count());
    more.all();
    interrupted = more.interrupted();
  }
  report.tune = tune_plan(machine, words.front(), observed.ending.seconds);
  page.write(document_of(machine, report));
  if (o.output != "-") say("report", "in " + o.output);
  if (int const signal = platform::SignalsHeld::pending(); interrupted == 0 && signal > 0)
    interrupted = of_signals + signal;
  if (interrupted > 0) throw ExitStatus{interrupted};
  if (observed.ending.signal > 0) platform::die_of(observed.ending.signal);
  throw ExitStatus{observed.ending.status};
}

void report_files(CLI::App const& command, ReportOptions const& o) {
  for (auto const* option : {"--threads", "--repetitions", "--budget", "--no-scaling"})
    if (command.count(option) > 0)
      throw UsageError(std::string(option) + ": is for programs, nigh report [OPTIONS] -- PROGRAM");
  auto files = read_result_files(o.files);
  Page const page(o.output, o.force);
  auto const first = std::filesystem::path(o.files.front()).filename().string();
  auto const title = !o.title.empty() ? o.title
                     : o.files.size() == 1
                         ? first
                         : fmt::format("{} and {} more", first, o.files.size() - 1);
  page.write(document_of_files(title, std::move(files)));
  if (o.output != "-") say("report", "in " + o.output);
}

}  // namespace

void add_report(CLI::App& app, std::vector<std::string> const& program) {
  auto* const command = app.add_subcommand(
      "report",
      "Show a program, or results of other commands, as one HTML file: nigh report [OPTIONS] -- "
      "PROGRAM ARGUMENTS..., or nigh report FILE...");
  auto const o = std::make_shared<ReportOptions>();
  command->add_option("-o,--output", o->output, "Where to write it (nigh-report.html)")
      ->type_name("FILE.html");
  command->add_flag("--force", o->force, "Replace a file that is no report of nigh");
  command->add_option("--title", o->title, "Its heading (the program and its arguments)")
      ->type_name("TEXT");
  add_study_options(*command, o->runs);
  command
      ->add_option("--budget", o->budget,
                   "Make only so many of these runs as end in that time: 90s, 10m, 2h (10m)")
      ->type_name("TIME");
  command->add_flag("--no-scaling", o->no_scaling,
                    "Run the program once, not again with other teams");
  command->add_option("files", o->files, "Results of nigh tune, profile, bench or sim")
      ->type_name("FILE...");
  command->callback([command, o, &program] {
    if (program.empty() && o->files.empty())
      throw UsageError(
          "report: of what? nigh report [OPTIONS] -- PROGRAM ARGUMENTS..., or nigh report FILE...");
    if (program.empty())
      report_files(*command, *o);
    else
      report_program(*command, *o, program);
  });
}

}  // namespace nigh::cli
