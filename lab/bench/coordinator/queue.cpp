// SPDX-License-Identifier: Apache-2.0
#include "bench/coordinator/queue.hpp"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <map>
#include <nigh/topology.hpp>
#include <stdexcept>
#include <utility>

#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "coordinator/core/coordinator.hpp"

namespace bench {
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
  Progress progress(static_cast<int>(o.repetitions * static_cast<long>(queued.size())));
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
