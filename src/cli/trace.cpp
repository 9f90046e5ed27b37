// SPDX-License-Identifier: Apache-2.0
// nigh trace: runs a program with its nigh runtimes recorded, and summarizes the trace.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/merge_traces.hpp"
#include "cli/output_file.hpp"
#include "cli/region_name.hpp"
#include "cli/run/request.hpp"
#include "cli/traced_run.hpp"
#include "platform/ending_signals.hpp"
#include "platform/launch.hpp"
#include "platform/program.hpp"

namespace nigh::cli {
namespace {

namespace fs = std::filesystem;

struct TraceOptions {
  std::string output;
  std::string tasks;  // of OpenMP, as `nigh run` takes it
  bool summary_only = false, merge = false;
  std::vector<std::string> files;  // to merge
};

// A line that nobody can read is left out: the trace itself is kept.
template <class... Values>
void tell(fmt::format_string<Values...> format, Values&&... values) {
  auto const text = fmt::format(format, std::forward<Values>(values)...);
  std::fputs(text.c_str(), stderr);
}

// Nanoseconds for each of many calls of f; the best of several tries, for other load may disturb.
template <class F>
double best_time_ns(F f) {
  constexpr int calls = 100'000, tries = 7;
  double best = 0;
  for (int t = 0; t < tries; ++t) {
    using clock = std::chrono::steady_clock;
    auto const begin = clock::now();
    for (int i = 0; i < calls; ++i) f();
    std::chrono::duration<double, std::nano> const took = clock::now() - begin;
    best = t == 0 ? took.count() : std::min(best, took.count());
  }
  return best / calls;
}

// The cost of making and joining one task on this machine: two calls with one of them forked, minus
// the two calls. Nothing is stolen and nothing recorded.
std::optional<double> creation_overhead_ns() try {
  ::unsetenv("NIGH_TRACE");  // the environment may have it
  using Body = void (*)();
  static Body volatile body = [] {};  // volatile, so that the call is not inlined
  auto const call = [] { body(); };
  runtime_options alone;
  alone.workers = 1;
  runtime one(alone);
  double forked = 0, called = 0;
  one.run([&] {
    forked = best_time_ns([&] { fork_join(call, call); });
    called = best_time_ns([&] { call(), call(); });
  });
  return std::max(forked - called, 0.0);
} catch (std::exception const&) {
  return std::nullopt;  // no thread could be started: the summary has no such number
}

// "without rank 1" of a job of which there are ranks 0 and 2.
std::string without(std::vector<RankTrace> const& ranks) {
  constexpr std::size_t most_named = 8;
  std::string named;
  std::size_t missing = 0;
  auto next = ranks.begin();
  auto const all = ranks.front().rank.ranks;
  for (int rank = 0; rank < all && missing < most_named; ++rank) {
    while (next != ranks.end() && next->rank.rank < rank) ++next;
    if (next != ranks.end() && next->rank.rank == rank) continue;
    named += fmt::format("{}{}", missing++ > 0 ? ", " : "", rank);
  }
  if (missing == 0) return {};
  auto const left = static_cast<std::size_t>(all) - std::min(ranks.size() + missing, static_cast<std::size_t>(all));
  return fmt::format(", without rank{} {}{},", missing > 1 ? "s" : "", named,
                     left > 0 ? fmt::format(" and {} more", left) : "");
}

std::string said_of(std::vector<RankTrace> const& ranks) {
  auto const error = clock_error_ns(ranks);
  auto const all = static_cast<std::size_t>(ranks.front().rank.ranks);
  return fmt::format(
      "trace of {}{} ranks{}{}", ranks.size(), ranks.size() < all ? fmt::format(" of {}", all) : "",
      without(ranks),
      error > 0
          ? fmt::format("{} whose clocks agree within {:.1f} us,", ranks.size() < all ? "" : ",", static_cast<double>(error) * 1e-3)
          : "");
}

// One file for all ranks of a job, if the program ran as one: then only files of processes that are
// no ranks remain beside it.
std::vector<fs::path> keep_ranks(std::vector<fs::path> traces, std::string const& output) {
  auto const ranks = rank_traces(traces);
  if (ranks.size() < 2 || !misfit(ranks).empty()) return traces;
  auto const told = written(ranks);
  if (told.empty()) return traces;
  merge_traces(told, output);
  for (auto const& rank : ranks) std::erase(traces, rank.file);
  tell("nigh: {} in {}; ui.perfetto.dev shows it\n", said_of(told),
             base::printable(output));
  for (auto const& other : traces) {
    auto const file = output + "." + other.stem().string();
    fs::rename(other, file);
    tell("nigh: trace in {}\n", base::printable(file));
  }
  return {};
}

// OUTPUT for the program's only process or its first one, OUTPUT.PID for others.
void keep(std::vector<fs::path> traces, std::string const& output) {
  traces = keep_ranks(std::move(traces), output);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    auto const file = i == 0 ? output : output + "." + traces[i].stem().string();
    fs::rename(traces[i], file);
    tell("nigh: trace in {}{}\n", base::printable(file),
               i == 0 ? "; ui.perfetto.dev shows it" : "");
  }
}

// The longest lists of constructs and of threads.
constexpr std::size_t most_rows = 12;

void print_threads(std::vector<ReadTrace> const& processes) {
  std::size_t count = 0;
  for (auto const& process : processes)
    for (auto const& thread : process.threads) {
      if (++count > most_rows) continue;
      auto const name = fmt::format("thread {}", thread.number);
      auto const ms = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; };
      tell("  {:<20}{:>10.3f} ms in tasks {:>9.3f} own part {:>9.3f} searching {:>9.3f} asleep\n",
           processes.size() == 1 ? name : fmt::format("{} of {}", name, process.process),
           ms(thread.tasks_ns), ms(thread.own_ns), ms(thread.searching_ns), ms(thread.asleep_ns));
    }
  if (count > most_rows) tell("  and {} threads more\n", count - most_rows);
}

struct CodeTime {
  std::uint64_t tasks = 0, ns = 0;
};

void print_codes(std::map<std::string, CodeTime> const& codes) {
  std::vector<std::pair<std::string, CodeTime>> rows(codes.begin(), codes.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](auto const& a, auto const& b) { return a.second.ns > b.second.ns; });
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
    auto const& [name, time] = rows[i];
    tell("  {:<32}{:>12} tasks {:>12.3f} ms {:>10.3f} us each\n", name,
               fmt::group_digits(time.tasks), static_cast<double>(time.ns) * 1e-6,
               static_cast<double>(time.ns) * 1e-3 / static_cast<double>(std::max<std::uint64_t>(time.tasks, 1)));
  }
  if (rows.size() > most_rows) tell("  and {} more\n", rows.size() - most_rows);
}

// Whether there was anything to print.
bool summarise(std::vector<fs::path> const& traces, bool are_ours) {
  trace::Summary sums;
  WholeTime time;
  std::map<std::string, CodeTime> codes;
  std::vector<ReadTrace> processes;
  bool ended = false, is_openmp = false;
  for (auto const& file : traces) {
    auto const read = read_trace(file);
    if (!read) tell("nigh: trace: a process left an incomplete trace\n");
    if (!read) continue;
    sums = sums + read->summary;
    if (read->ended) time.add(*read);
    ended = ended || read->ended;
    is_openmp = is_openmp || !read->file.empty();
    if (!read->threads.empty()) processes.push_back(*read);
    if (read->codes.empty()) continue;
    auto const names = names_of(*read);
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto& code = codes[names[i]];
      code.tasks += read->codes[i].tasks;
      code.ns += read->codes[i].ns;
    }
    if (are_ours && !name_tasks(file, names))
      tell("nigh: trace: tasks on the time line have no names: {} cannot be changed\n",
                 base::printable(file.string()));
  }
  if (!ended) {
    tell("nigh: trace: the program ended before it could write its trace\n");
    return false;
  }
  tell(
      "{}",
      traces.size() > 1 ? fmt::format("{:26}{}\n", "processes", traces.size()) : std::string());
  sums.elapsed_ns = time.ns();
  // nigh's own cost of a task says nothing of a program whose tasks are OpenMP's.
  tell("{}", text(sums, is_openmp ? std::nullopt : creation_overhead_ns()));
  print_threads(processes);
  print_codes(codes);
  return true;
}

void merge(TraceOptions const& options) {
  std::vector<fs::path> const files(options.files.begin(), options.files.end());
  auto const ranks = rank_traces(files);
  for (auto const& file : files)
    if (errno = 0; !std::ifstream(file))
      throw UsageError("trace: " + file.string() + ": " + std::strerror(errno));
  for (auto const& file : files)
    if (std::none_of(ranks.begin(), ranks.end(), [&](auto const& r) { return r.file == file; }))
      throw UsageError("trace: " + file.string() + " is no trace of a rank");
  if (auto const why = misfit(ranks); !why.empty()) throw UsageError("trace: " + why);
  auto const told = written(ranks);
  if (told.empty()) throw std::runtime_error("trace: these ranks ended before they could write their traces");
  auto const output = target_of(options.output.empty() ? "ranks.trace.json" : options.output).string();
  std::error_code failed;
  if (fs::exists(output, failed) && !fs::is_regular_file(output, failed))
    throw UsageError("trace: cannot write " + output + ": it is no regular file");
  for (auto const& file : files)
    if (fs::equivalent(file, output, failed))
      throw UsageError("trace: " + output + " is one of the traces to merge");
  if (fs::exists(output, failed)) check_output(output);
  merge_traces(told, output);
  summarise(files, false);
  tell("nigh: {} in {}; ui.perfetto.dev shows it\n", said_of(told),
             base::printable(output));
}

// That ended the program; 0: none. A shell, or nigh run, that was the program tells by its status.
int signal_of(platform::Ending const& ending) {
  constexpr int by_signal = 128, last_signal = 64;  // more: a program's own status, as 255
  bool const is_told = ending.status > by_signal && ending.status <= by_signal + last_signal;
  return is_told ? ending.status - by_signal : 0;
}

void run_traced(TraceOptions const& options, std::vector<std::string> words) {
  auto const program = words.front();
  auto const output =
      target_of(options.output.empty() ? fs::path(program).filename().string() + ".trace.json"
                                       : options.output)
          .string();
  std::optional<platform::SignalsHeld> until_the_folder_is_gone;
  auto const folder = options.summary_only ? TraceFolder::temporary() : TraceFolder::beside(output);
  if (!options.summary_only) check_output(output);
  if (!options.tasks.empty())
    words.insert(words.begin(), {platform::this_program().string(), "run", "--tasks", options.tasks, "--"});
  platform::Launch launch;
  launch.words = std::move(words);
  launch.variables = {folder.variable()};
  auto const ending = platform::run_supervised(launch, {});
  until_the_folder_is_gone.emplace();
  if (!ending) throw std::runtime_error("trace: " + ending.message());
  if (auto const& why = ending->not_started) {
    tell("nigh: trace: {}\n", base::printable(why->message));
    throw ExitStatus{why->status};
  }

  int const status = ending->status;
  auto const traces = folder.traces();
  if (traces.empty()) {
    bool const nigh_run_complained = !options.tasks.empty() && status >= platform::failed_as_env;
    if (nigh_run_complained && status <= platform::not_found_as_env) throw ExitStatus{status};
    auto const name = base::printable(program);
    if (options.tasks.empty())
      tell("nigh: trace: {} made no nigh runtime, so there is no trace (OpenMP tasks: --tasks prefer)\n", name);
    else if (int const signal = signal_of(*ending); signal != 0)
      tell("nigh: trace: signal {} ended {}, and no trace was written\n", signal, name);
    else
      tell("nigh: trace: {} ran no OpenMP region whose tasks are nigh's, left by _exit or exec, or could not write its trace\n", name);
    throw ExitStatus{status != 0 ? status : platform::failed_as_env};
  }
  platform::ignore_broken_pipes();
  if (int const signal = signal_of(*ending); signal != 0)
    tell("nigh: trace: signal {} ended the program: the trace holds what it did until then\n",
         signal);
  if (summarise(traces, true) && !options.summary_only) keep(traces, output);
  throw ExitStatus{status};
}

}  // namespace

void add_trace(CLI::App& app, std::vector<std::string> const& program) {
  auto* const command = app.add_subcommand(
      "trace", "Show what a program's workers do: nigh trace [OPTIONS] -- PROGRAM ARGUMENTS...");
  auto const options = std::make_shared<TraceOptions>();
  auto* const output =
      command
          ->add_option("-o,--output", options->output,
                       "Where to write it, for ui.perfetto.dev (PROGRAM.trace.json)")
          ->type_name("FILE");
  command->add_flag("--summary-only", options->summary_only, "Only print the sums, keep no file")
      ->excludes(output);
  command
      ->add_flag("--merge", options->merge,
                 "Put traces of a job's ranks into one file: nigh trace --merge FILE...")
      ->excludes("--summary-only");
  command->add_option("--tasks", options->tasks,
                      "For an OpenMP program: run its tasks as nigh run --tasks does, and show them")
      ->type_name("HOW")
      ->excludes("--merge");
  command->add_option("files", options->files, "With --merge: the traces")->type_name("FILE...");
  command->callback([command, options, &program] {
    if (options->output == "-")
      throw UsageError("--output: a trace goes into a file, not to standard output");
    if (command->count("--tasks") > 0)
      if (auto const parsed = parse_tasks(options->tasks); !parsed)
        throw UsageError("--tasks: " + parsed.message());
    if (options->merge && options->files.empty())
      throw UsageError("trace: which traces? nigh trace --merge FILE...");
    if (options->merge) return merge(*options);
    if (program.empty())
      throw UsageError("trace: which program? nigh trace -- PROGRAM ARGUMENTS...");
    run_traced(*options, program);
  });
}

}  // namespace nigh::cli
