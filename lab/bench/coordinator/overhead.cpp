// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nigh/topology.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/coordinator/programs.hpp"
#include "bench/coordinator/studies.hpp"
#include "bench/processes.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "coordinator/core/coordinator.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

namespace fs = std::filesystem;

struct Way {
  std::string variant, runtime;
  Command command;
  bool is_asleep;  // the daemon, before each region
  Result result{};
};

std::vector<Way> ways(OverheadOptions const& o, std::string const& socket) {
  fs::path const folder = libexec_folder();
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
    if (!fs::exists(fs::path(libexec_folder()) / part)) return std::string(part) + " is not there";
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
  nigh::platform::Progress progress(
      static_cast<int>(o.repetitions * static_cast<long>(all.size())));
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

namespace {

using namespace nigh::coordinator;

constexpr std::array<long, 4> queued{10, 100, 1'000, 16'000};
constexpr std::array<char const*, 3> kinds{"query", "report", "request"};
constexpr std::uint32_t others = 1, own = 2;
constexpr Connection me = 1;
constexpr int cpus = 32;
constexpr std::uint32_t most_programs = 256;

nigh::policy::CoreMap host() {
  auto const machine = nigh::topology::from_synthetic("pack:1 l3:4 core:8 pu:1");
  if (!machine) throw std::runtime_error(machine.message());
  return nigh::policy::CoreMap::of(*machine);
}

// Programs of one user hold what they may and have so many requests waiting; one of another user
// has its part of the cpus.
class Host {
 public:
  explicit Host(long requests) : coordinator_(host(), options(), 0) {
    join(me, own);
    for (Connection c = 0; c < most_programs; ++c) join(me + 1 + c, others);
    for (Ticket n = 0; coordinator_.waiting() < requests; ++n)
      take(me + 1 + n % most_programs,
           Request{.region = 1, .ticket = n / most_programs, .demand = {4, 4}});
    for (now_ += 1'000; lease_ == 0; now_ += 10'000) {
      if (now_ > 10'000'000) throw std::runtime_error("a user never gets its part");
      if (!waits_) take(me, request());
      note(coordinator_.step(Tick{}, now_));
    }
  }
  // Nanoseconds for each.
  double time(std::string const& kind, long messages) {
    using Clock = std::chrono::steady_clock;
    auto const begin = Clock::now();
    for (long i = 0; i < messages; ++i) {
      if (kind == "query") take(me, Query{1});
      if (kind == "report") take(me, Report{.region = 1, .threads = 4, .duration_ns = 100'000'000});
      if (kind == "request") take(me, request());
    }
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
           static_cast<double>(messages);
  }

 private:
  static CoordinatorOptions options() {
    CoordinatorOptions o;
    o.requests = {65'536, 64};
    return o;
  }
  Request request() const {
    return {.region = 1, .ticket = 1, .demand = {4, 4}, .returned = lease_};
  }
  void join(Connection c, std::uint32_t user) {
    Register m{.name = Name("p")};
    for (int cpu = 0; cpu < cpus; ++cpu) m.allowed.add(cpu);
    coordinator_.step(Received{c, m, user}, now_);
  }
  void take(Connection c, ProgramMessage message) {
    if (c == me && std::holds_alternative<Request>(message)) waits_ = true;
    note(coordinator_.step(Received{c, std::move(message)}, now_));
  }
  void note(std::vector<Send> const& sent) {
    for (Send const& s : sent)
      if (auto const* grant = std::get_if<Grant>(&s.message); grant != nullptr && s.to == me)
        lease_ = grant->lease, waits_ = false;
  }

  Time now_ = 0;
  Coordinator coordinator_;
  LeaseId lease_ = 0;
  bool waits_ = false;
};

}  // namespace

QueueStudy study_queue(QueueOptions const& o) {
  QueueStudy study;
  nigh::platform::Progress progress(
      static_cast<int>(o.repetitions * static_cast<long>(queued.size())));
  std::map<std::pair<long, std::string>, std::vector<double>> samples;
  for (long repetition = 0; repetition < o.repetitions; ++repetition)
    for (long const n : queued) {
      progress.step(fmt::format("{} requests wait", n));
      Host host(n);
      for (auto const* kind : kinds) {
        host.time(kind, o.messages / 10 + 1);
        samples[{n, kind}].push_back(host.time(kind, o.messages));
      }
    }
  for (auto const* kind : kinds)
    for (long const n : queued) {
      Result r;
      r.bench = "coordinator/queue";
      r.variant = kind;
      r.params = {{"cpus", long{cpus}}, {"waiting", n}};
      r.metric = "message";
      r.unit = "ns";
      r.samples = samples[{n, kind}];
      r.counters["of_ten_waiting"] = median_of(r.samples) / median_of(samples[{queued[0], kind}]);
      study.results.push_back(std::move(r));
    }
  return study;
}

std::string describe(QueueStudy const& study) {
  Table t;
  t.row({"a message", "others' requests that wait", "ns, median", "of that with ten"});
  for (Result const& r : study.results)
    t.row({r.variant, std::to_string(std::get<long>(r.params.at("waiting"))),
           fmt::format("{:.0f}", median_of(r.samples)),
           fmt::format("{:.2f}", std::get<double>(r.counters.at("of_ten_waiting")))});
  return t.text();
}

}  // namespace bench
