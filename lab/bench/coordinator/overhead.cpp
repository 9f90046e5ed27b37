// SPDX-License-Identifier: Apache-2.0
#include "bench/coordinator/overhead.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "bench/coordinator/daemon.hpp"
#include "bench/processes.hpp"
#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

namespace fs = std::filesystem;

fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

struct Way {
  std::string variant, runtime;
  Command command;
  bool is_asleep;  // the daemon, before each region
  Result result{};
};

std::vector<Way> ways(OverheadOptions const& o, std::string const& socket) {
  auto const folder = own_folder();
  std::string const shim = (folder / "nigh-openmp.so").string();
  std::map<std::string, std::string> const kept{{"NIGH_SOCKET", socket}, {"LD_PRELOAD", shim}};
  std::vector<Way> all;
  for (std::string const runtime : {"none", "openmp-gcc"}) {
    std::string const program =
        (folder / (runtime == "none" ? "nigh-region-timer-null" : "nigh-region-timer")).string();
    // Threads that sleep between regions make times of their own.
    long const regions = runtime == "none" ? o.regions : o.regions / 20;
    std::vector<std::string> const row{program, "regions", std::to_string(regions)};
    std::string const messages = std::to_string(o.messages), pause = std::to_string(o.pause_us);
    all.push_back({"without", runtime, {row, {}}, false});
    all.push_back({"shim", runtime, {row, {{"LD_PRELOAD", shim}}}, false});
    all.push_back({"shim/lease", runtime, {row, kept}, false});
    if (runtime == "none") {
      all.push_back(
          {"shim/message", runtime, {{program, "messages", messages, pause}, kept}, true});
      all.push_back({"shim/first", runtime, {{program, "first", messages, pause}, kept}, true});
      all.push_back({"ping-pong", runtime, {{program, "ping", messages, pause}, {}}, true});
      all.push_back({"wake", runtime, {{program, "wake", messages, pause}, {}}, true});
    }
  }
  return all;
}

std::string why_absent() {
  for (char const* part : {"nigh-openmp.so", "nigh-region-timer", "nigh-region-timer-null"})
    if (!fs::exists(own_folder() / part)) return std::string(part) + " is not there";
  return Daemon::why_absent();
}

double measure(Way const& way) {
  Ended const ended = run_together({way.command}, 120)[0];
  double const ns = std::strtod(ended.output.c_str(), nullptr);
  if (ended.status != 0 || ns <= 0)
    throw std::runtime_error(
        fmt::format("{}: exit status {} {}", way.command.words[0], ended.status, ended.errors));
  return ns;
}

}  // namespace

OverheadStudy study_overhead(OverheadOptions const& o) {
  std::string const absent = why_absent();
  std::optional<Daemon> daemon;
  if (absent.empty()) daemon.emplace("clustered-adjusting");
  auto all = ways(o, daemon ? daemon->socket() : "");
  Progress progress(static_cast<int>(o.repetitions * static_cast<long>(all.size())));
  for (long r = 0; r < o.repetitions; ++r)
    for (Way& way : all) {
      progress.step(way.variant);
      if (absent.empty()) way.result.samples.push_back(measure(way));
    }
  OverheadStudy study{o, {}};
  for (Way& way : all) {
    Result& r = way.result;
    r.bench = "coordinator/overhead";
    r.variant = way.variant;
    r.params = {{"runtime", way.runtime}, {"pause_us", way.is_asleep ? o.pause_us : 0L}};
    r.metric = "time_per_region";
    r.unit = "ns";
    r.absent = absent;
    study.results.push_back(r);
  }
  return study;
}

std::string describe(OverheadStudy const& study) {
  if (std::string const& absent = study.results[0].absent; !absent.empty())
    return "not measured: " + absent + '\n';
  Table t;
  t.row({"one parallel region, entered and left", "ns, median", "min", "max", "added"});
  double plain = 0;
  std::string runtime;
  for (Result const& r : study.results) {
    auto const s = statistics_of(r.samples);
    auto const of = std::get<std::string>(r.params.at("runtime"));
    if (of != runtime) t.rule();
    runtime = of;
    if (r.variant == "without") plain = s.median;
    std::string const what = of == "none" ? "a runtime that does nothing" : "libgomp";
    bool const is_region = r.variant != "ping-pong" && r.variant != "wake";
    t.row({is_region ? fmt::format("{}, {}", what, r.variant) : r.variant,
           fmt::format("{:.1f}", s.median), fmt::format("{:.1f}", s.min),
           fmt::format("{:.1f}", s.max), fmt::format("{:.1f}", s.median - plain)});
  }
  return t.text() +
         fmt::format(
             "shim: no coordinator; shim/lease: one that is kept; shim/message: another one for\n"
             "each region, {} us after the one before; shim/first: of a new thread, which is also\n"
             "placed; ping-pong: messages of the same sizes to a process that only answers, and\n"
             "wake: another that is woken to write a word, after the same pause\n",
             study.options.pause_us);
}

}  // namespace bench
