// SPDX-License-Identifier: Apache-2.0
// nigh tune: runs a program in many configurations, and says which one is best.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/program_output.hpp"
#include "cli/run/launch_plan.hpp"
#include "cli/run/plan.hpp"
#include "cli/run/profile.hpp"
#include "cli/tune/metric.hpp"
#include "cli/tune/outcome.hpp"
#include "cli/tune/progress.hpp"
#include "cli/tune/space.hpp"
#include "platform/launch.hpp"
#include "tune/search.hpp"

namespace nigh::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

struct TuneOptions {
  std::vector<std::string> threads, binds, memories, schedules;
  std::string metric, budget = "10m", output = "nigh-profile.json", json, plot;
  bool maximize = false, exhaustive = false;
  int repetitions = 5;
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

class Tuning {
 public:
  Tuning(topology const& machine, Space space, Metric metric, nanoseconds budget,
         std::vector<std::string> words, tune::SearchOptions options)
      : machine_(machine),
        space_(std::move(space)),
        metric_(std::move(metric)),
        words_(std::move(words)),
        shim_(shim_for(words_.front())),
        search_(space_.candidates, options),
        exhaustive_(options.exhaustive),
        cut_short_(space_.requests.size(), false),
        failures_(space_.requests.size()),
        end_(start_ + budget) {}

  // Until it is decided, the time is up, or somebody interrupts; returns that signal, or 0.
  int run() {
    platform::SignalsHeld const held;
    Progress const progress;
    while (auto const candidate = search_.next()) {
      if (int const signal = platform::SignalsHeld::pending()) return interrupted(signal);
      auto const left = end_ - Clock::now();
      if (left < expected(*candidate)) {
        ended_ = "the budget ended it";
        break;
      }
      progress.show(search_.runs(), search_.runs_left(),
                    std::chrono::duration<double>(left).count(), to_string(request(*candidate)));
      if (int const signal = run_one(*candidate, left)) return interrupted(signal);
      if (!ended_.empty()) break;
    }
    return 0;
  }

  Outcome outcome() const {
    return {space_,     search_,   metric_,
            cut_short_, failures_, std::chrono::duration<double>(Clock::now() - start_).count(),
            ended_};
  }
  Request const& request(int candidate) const {
    return space_.requests[static_cast<std::size_t>(candidate)];
  }
  // Of the program as it is: nothing else makes sense without it.
  std::string const& first_failure() const { return failures_.front(); }

 private:
  int interrupted(int signal) {
    ended_ = "interrupted";
    return signal;
  }

  // What this one took before, else what they take in general.
  nanoseconds expected(int candidate) const {
    auto const it = took_.find(candidate);
    double seconds = it != took_.end() ? it->second : 0;
    if (it == took_.end() && !took_.empty()) {
      std::vector<double> all;
      for (auto const& [c, s] : took_) all.push_back(s);
      seconds = tune::median(all);
    }
    return nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }

  // A run that takes three times as long as the best has lost, when time is what counts.
  std::optional<nanoseconds> losing_time() const {
    auto const table = search_.standings();
    if (!metric_.is_time() || table.empty() || exhaustive_) return {};
    constexpr double lost = 3;
    constexpr nanoseconds least = std::chrono::milliseconds(100);
    return std::max(least, nanoseconds(static_cast<std::int64_t>(lost * 1e9 * table.front().cost)));
  }

  int run_one(int candidate, nanoseconds left) {
    auto const index = static_cast<std::size_t>(candidate);
    auto const plan = make_plan(machine_, request(candidate), from_environment);
    auto launch = launch_of(plan.value(), shim_, words_);
    launch.strict = true;  // a policy that is not in force would be measured under a wrong name
    auto const losing = losing_time();
    auto const limit = std::min(left, losing.value_or(left));
    auto const ending = platform::run_measured(launch, output_.path(), limit);
    if (!ending) throw std::runtime_error("tune: " + ending.message());
    if (ending->interrupted > 0) return ending->interrupted;
    if (ending->interrupted == platform::limit_reached) {
      if (!losing || left <= *losing) {
        ended_ = "the budget ended it";
      } else {
        cut_short_[index] = true;
        search_.tell(candidate, std::chrono::duration<double>(limit).count());
      }
      return 0;
    }
    took_[candidate] = ending->seconds;
    if (ending->not_started) return fail(candidate, ending->not_started->message);
    auto const text = output_.text();
    if (ending->status != 0)
      return fail(candidate,
                  (ending->signal > 0 ? fmt::format("signal {} ended it", ending->signal)
                                      : fmt::format("its exit status is {}", ending->status)) +
                      (text.empty() ? "" : ", its last words: " + last_lines(text, 1)));
    auto const value = metric_.value(ending->seconds, text);
    if (!value) return fail(candidate, value.message());
    search_.tell(candidate, metric_.cost(*value));
    return 0;
  }

  int fail(int candidate, std::string why) {
    failures_[static_cast<std::size_t>(candidate)] = std::move(why);
    search_.tell_failed(candidate);
    if (candidate == 0) ended_ = "the program fails as it is";
    return 0;
  }

  topology const& machine_;
  Space space_;
  Metric metric_;
  std::vector<std::string> words_;
  Shim shim_;
  tune::Search search_;
  bool exhaustive_;
  std::vector<bool> cut_short_;
  std::vector<std::string> failures_;
  std::map<int, double> took_;
  ProgramOutput output_;
  std::string ended_;
  Clock::time_point start_ = Clock::now(), end_;
};

void say(std::string const& what) { fmt::print(stderr, "nigh: tune: {}\n", what); }

Metric metric_of(CLI::App const& command, TuneOptions const& o) {
  if (command.count("--metric") == 0) {
    if (o.maximize) throw UsageError("--maximize needs --metric: less time is always better");
    return {};
  }
  auto metric = Metric::in_output(o.metric, o.maximize);
  if (!metric) throw UsageError("--metric: " + metric.message());
  return std::move(metric).value();
}

void check_figure(std::string const& file) {
  if (!file.empty() && file != "-" && !file.ends_with(".svg"))
    throw UsageError("--plot: " + file + " is no .svg");
}

void tune_program(CLI::App const& command, TuneOptions const& o,
                  std::vector<std::string> const& words) {
  if (words.empty())
    throw UsageError("tune: which program? nigh tune [OPTIONS] -- PROGRAM ARGUMENTS...");
  auto const budget = parse_duration(o.budget);
  if (!budget) throw UsageError("--budget: " + budget.message());
  auto metric = metric_of(command, o);
  check_figure(o.plot);
  for (auto const* file : {&o.output, &o.json, &o.plot})
    if (!file->empty()) check_output(*file);
  Choices const choices{
      parsed("--threads", o.threads, parse_threads), parsed("--bind", o.binds, parse_binding),
      parsed("--mem", o.memories, parse_memory), parsed("--schedule", o.schedules, parse_loops)};
  auto const machine = host_to_bind_to();
  auto const elf = platform::read_elf(platform::find_program(words.front()));
  auto space = space_of(machine, choices, elf ? hears(*elf) : Hears::all, from_environment);
  if (!space) throw UsageError(space.message());
  for (auto const& note : space->notes) say(note);

  Tuning tuning(machine, std::move(space).value(), std::move(metric), *budget, words,
                {o.repetitions, o.seed, o.exhaustive});
  int const signal = tuning.run();
  auto const found = tuning.outcome();
  if (!tuning.first_failure().empty())
    throw std::runtime_error("tune: the program as it is cannot be measured: " +
                             tuning.first_failure());
  auto const table = found.search.standings();
  if (table.empty()) {
    say(signal > 0 ? "interrupted before the first run ended"
                   : "the first run did not end within the budget of " + o.budget);
    throw ExitStatus{signal > 0 ? 128 + signal : 1};
  }
  write_output("-", ranking_text(found));
  if (!o.json.empty()) write_output(o.json, results_json(found, shape_of(machine).levels));
  if (!o.plot.empty())
    write_output(o.plot, figure_svg(found, words.front() + " on " + machine.description()));
  write_output(o.output, profile_json(tuning.request(table.front().candidate), shape_of(machine)));
  if (o.output != "-")
    fmt::print("Profile in {}: nigh run --profile {} -- {}\n", o.output, as_shell_words({o.output}),
               as_shell_words(words));
  std::fflush(stdout);
  if (signal > 0) throw ExitStatus{128 + signal};
}

}  // namespace

void add_tune(CLI::App& app, std::vector<std::string> const& program) {
  auto* const command = app.add_subcommand("tune",
                                           "Find the best options of nigh run for a program: nigh "
                                           "tune [OPTIONS] -- PROGRAM ARGUMENTS...");
  auto const o = std::make_shared<TuneOptions>();
  auto const several = [command](char const* name, std::vector<std::string>& into, char const* what,
                                 char const* type) {
    command->add_option(name, into, what)->type_name(type)->expected(1)->take_all();
  };
  several("--threads", o->threads,
          "Try these numbers of threads; may be given several times, as may the next", "N");
  several("--bind", o->binds, "Try these bindings (compact, scatter)", "HOW");
  several("--mem", o->memories, "Try these memory policies (first-touch, interleave)", "POLICY");
  several("--schedule", o->schedules, "Try these schedules", "KIND");
  command->add_option("--budget", o->budget, "Stop after that time: 90s, 10m, 2h (10m)")
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
  command->add_option("--seed", o->seed, "Of the order of runs (1)")->type_name("N");
  command->add_option("-o,--output", o->output, "Where to write the profile (nigh-profile.json)")
      ->type_name("FILE");
  command->add_option("--json", o->json, "Write the measurements into this file, a JSON line each")
      ->type_name("FILE");
  command->add_option("--plot", o->plot, "Draw time by threads into this file")
      ->type_name("FILE.svg");
  command->callback([command, o, &program] { tune_program(*command, *o, program); });
}

}  // namespace nigh::cli
