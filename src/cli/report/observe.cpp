// SPDX-License-Identifier: Apache-2.0
#include "cli/report/observe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/profile/times_directory.hpp"
#include "cli/program_output.hpp"
#include "cli/region_name.hpp"
#include "cli/run/launch_plan.hpp"
#include "cli/run/watch.hpp"
#include "cli/traced_run.hpp"
#include "platform/elf.hpp"
#include "platform/launch.hpp"
#include "platform/process_usage.hpp"
#include "platform/program.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;
namespace {

// As many threads as the program's regions have by themselves.
int usual_team(topology const& machine) {
  auto const cpus = static_cast<int>(machine.cpus().size());
  auto const said = from_environment("OMP_NUM_THREADS");
  int threads = 0;
  if (said) std::from_chars(said->data(), said->data() + said->size(), threads);
  return threads > 0 ? threads : cpus;
}

bool is_openmp(fs::path const& file) {
  auto const name = file.filename().string();
  constexpr std::array<std::string_view, 3> runtimes{"libgomp", "libomp", "libiomp5"};
  return std::any_of(runtimes.begin(), runtimes.end(),
                     [&](std::string_view runtime) { return name.starts_with(runtime); });
}

// Libraries of its libraries, too. A short program may end before anybody has looked at it.
bool links_to_openmp(std::string const& program) {
  auto const file = platform::find_program(program);
  auto const elf = platform::read_elf(file);
  if (!elf || !elf->is_ours || !elf->is_dynamic || elf->loader.empty()) return false;
  ProgramOutput const output;
  platform::Launch launch;
  launch.words = {elf->loader, "--list", fs::absolute(file).string()};  // does not run the program
  auto const listed = platform::run_measured(launch, output.path(), {});
  if (!listed || listed->status != 0) return false;
  std::istringstream words(output.text());
  return std::any_of(std::istream_iterator<std::string>(words), {}, is_openmp);
}

// Of all processes that wrote one. Nothing, when none made a runtime with tasks.
std::optional<TracedTasks> tasks_in(TraceFolder const& folder) {
  TracedTasks found;
  WholeTime time;
  std::map<std::string, TracedTasks::Code> codes;
  std::uint64_t most = 0;
  fs::path largest;
  for (auto const& file : folder.traces()) {
    auto const read = read_trace(file);
    if (!read || !read->ended) continue;
    found.summary = found.summary + read->summary;
    time.add(*read);
    if (largest.empty() || read->summary.created > most) largest = file;
    most = std::max(most, read->summary.created);
    auto const names = names_of(*read);
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto& code = codes[names[i]];
      code.name = names[i];
      code.tasks += read->codes[i].tasks;
      code.ns += read->codes[i].ns;
    }
  }
  if (largest.empty()) return std::nullopt;
  found.summary.elapsed_ns = time.ns();
  auto series = read_series(largest, report_parts);
  if (!series) return std::nullopt;
  found.series = std::move(series).value();
  for (auto& [name, code] : codes) found.codes.push_back(std::move(code));
  std::stable_sort(found.codes.begin(), found.codes.end(),
                   [](auto const& a, auto const& b) { return a.ns > b.ns; });
  return found;
}

}  // namespace

std::string why_not_timed(topology const& machine, std::string const& program) {
  auto const shim = shim_for(program, Purpose::study);
  if (!shim.why_not.empty()) return shim.why_not;
  if (usual_team(machine) > static_cast<int>(machine.cpus().size()))
    return "OMP_NUM_THREADS wants more threads than there are cpus";
  for (char const* const name :
       {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    if (from_environment(name)) return std::string(name) + " says where threads go";
  return {};
}

Observed observe(topology const& machine, std::vector<std::string> const& words,
                 bool time_regions) {
  Observed observed;
  platform::Launch launch;
  launch.words = words;
  std::optional<TimesDirectory> times;
  auto const team = usual_team(machine);
  if (time_regions) {
    times.emplace();
    launch.variables = preload_variables(shim_for(words.front(), Purpose::study));
    launch.variables.push_back(study_cpus(machine));
    for (auto& variable : times->variables(team)) launch.variables.push_back(std::move(variable));
  }
  auto const folder = TraceFolder::temporary();
  if (!from_environment("NIGH_TRACE")) launch.variables.push_back(folder.variable());
  std::vector<int> processes;
  WatchListener listener;
  listener.threads = [&](double seconds, auto const& threads) {
    observed.usage.add(seconds, threads);
  };
  listener.processes = [&](std::vector<int> const& tree) { processes = tree; };
  listener.pages = [&](double seconds, auto const& bytes) {
    observed.pages.emplace_back(seconds, bytes);
    for (int const process : processes) {
      if (observed.has_openmp) return;
      auto const files = platform::mapped_code(process);
      observed.has_openmp = std::any_of(files.begin(), files.end(), is_openmp);
    }
  };
  listener.looks_a_lap = 100;
  Watch watch(listener);
  auto const complain = [](std::string const& what) { say("report", what); };
  auto const ending =
      platform::run_supervised(launch, {complain, [&](int pid) { return watch.look(pid); }});
  if (!ending) throw std::runtime_error("report: " + ending.message());
  if (ending->not_started) {
    say("report", ending->not_started->message);
    throw ExitStatus{ending->not_started->status};
  }
  observed.ending = *ending;
  observed.seen = watch.seen();
  observed.has_openmp = observed.has_openmp || links_to_openmp(words.front());
  if (times)
    if (auto const timed = read_times(times->path()); timed && !timed->empty()) {
      StudyLog log;
      log.add(team, ending->seconds, *timed);
      observed.study = log.study();
    }
  observed.tasks = tasks_in(folder);
  return observed;
}

result<TracedTasks> trace_openmp_tasks(std::vector<std::string> const& words) {
  auto const shim = shim_for(words.front(), Purpose::tasks);
  if (!shim.why_not.empty()) return error{shim.why_not};
  auto const folder = TraceFolder::temporary();
  ProgramOutput const output;
  platform::Launch launch;
  launch.words = words;
  launch.words.insert(launch.words.begin(), {platform::this_program().string(), "run",
                                             "--no-coordinator", "--tasks", "prefer", "--"});
  launch.variables = {folder.variable()};
  auto const ending = platform::run_measured(launch, output.path(), {});
  if (!ending) return error{ending.message()};
  if (ending->interrupted > 0) throw ExitStatus{128 + ending->interrupted};
  if (ending->not_started) return error{ending->not_started->message};
  if (ending->status != 0)
    return error{fmt::format("with its tasks run by nigh it ended with status {}", ending->status)};
  auto tasks = tasks_in(folder);
  if (!tasks || tasks->summary.created == 0)
    return error{"it made no OpenMP tasks and no nigh runtime"};
  tasks->seconds = ending->seconds;
  return std::move(*tasks);
}

}  // namespace nigh::cli
