// SPDX-License-Identifier: Apache-2.0
#include "bench/loops/compare.hpp"

#include <functional>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_loop.hpp>
#include <stdexcept>
#include <thread>

#include "bench/idle.hpp"
#include "bench/loops/fork_union.hpp"
#include "bench/loops/kernels.hpp"
#include "bench/pin.hpp"
#include "bench/progress.hpp"
#include "bench/tasks/peer_process.hpp"
#include "bench/tasks/rendezvous_ways.hpp"
#include "workloads/families.hpp"

namespace bench {

namespace {

using workloads::Family;

void loop_of_two(std::function<void()> const& body) {
  nigh::parallel_for(0, 2, [&body](int) { body(); });
}

// Within one block: what a team's inner loop costs.
std::vector<double> time_team_loop(nigh::runtime& runtime, double pause_us, int count) {
  std::vector<double> samples;
  auto const body = [&](std::size_t, nigh::team const& team) {
    samples = time_rendezvous(
        [&](std::function<void()> const& meet) { team.parallel_for(0, 2, [&](int) { meet(); }); },
        pause_us, count);
  };
  runtime.run([&] { nigh::task_loop(1, body, {.spread = nigh::spread(2)}); });
  return samples;
}

// A whole task loop that needs both workers: one block by a team of two, and two blocks by teams of
// one in turn. What it takes longer than a team's loop, the change costs.
std::vector<double> time_change_of_spread(nigh::runtime& runtime, double pause_us, int count) {
  std::vector<double> samples;
  int spread = 1;
  auto const change = [&](std::function<void()> const& meet) {
    spread = 3 - spread;
    nigh::task_loop(static_cast<std::size_t>(3 - spread),
                    [&](std::size_t, nigh::team const& team) {
                      team.parallel_for(0, spread, [&](int) { meet(); });
                    },
                    {.spread = nigh::spread(spread)});
  };
  runtime.run([&] { samples = time_rendezvous(change, pause_us, count); });
  return samples;
}

std::vector<Way> rendezvous_ways(LoopsOptions const& o, nigh::runtime& runtime, PeerProcess& peer) {
  std::vector<Way> list;
  list.push_back({"nigh/worker", "", [&runtime](double pause_us, int count) {
                    std::vector<double> samples;
                    runtime.run([&] { samples = time_rendezvous(loop_of_two, pause_us, count); });
                    return samples;
                  }});
  list.push_back({"nigh/outside", "", [&o](double pause_us, int count) {
                    allow_this_thread(o.cpus);  // its guests are whoever calls, wherever they run
                    return time_rendezvous(loop_of_two, pause_us, count);
                  }});
  list.push_back({"nigh/team", "", [&runtime](double pause_us, int count) {
                    return time_team_loop(runtime, pause_us, count);
                  }});
  list.push_back({"nigh/change-spread", "", [&runtime](double pause_us, int count) {
                    return time_change_of_spread(runtime, pause_us, count);
                  }});
  Way openmp{name_of(Family::openmp) + "/for", why_absent(Family::openmp), nullptr};
  if constexpr (workloads::has_openmp)
    openmp.time = [&o](double pause_us, int count) {
      return time_openmp_loop_rendezvous(o.cpus, pause_us, count);
    };
  list.push_back(openmp);
  list.push_back(
      {PeerProcess::family() + "/for", PeerProcess::why_absent(),
       [&peer](double pause_us, int count) { return peer.rendezvous(pause_us, count, true); }});
  Way tbb{"tbb/parallel_for", why_absent(Family::tbb), nullptr};
  if constexpr (workloads::has_tbb)
    tbb.time = [&o](double pause_us, int count) {
      return time_tbb_loop_rendezvous(o.cpus, pause_us, count);
    };
  list.push_back(tbb);
  list.push_back({"fork_union/for_n", why_no_fork_union(), [&o](double pause_us, int count) {
                    return time_fork_union_rendezvous(o.cpus, pause_us, count);
                  }});
  return list;
}

// Who runs a kernel with a schedule, in this process or in the other one.
struct Contender {
  std::string name, schedule, absent;
  Loops const* loops;  // null: the peer process
};

class Contenders {
 public:
  Contenders(LoopsOptions const& o, PeerProcess& peer) : nigh_(nigh_loops(o.cpus)), peer_(peer) {
    if constexpr (workloads::has_openmp) openmp_ = openmp_loops(o.cpus);
    if constexpr (workloads::has_tbb) tbb_ = tbb_loops(o.cpus);
  }

  std::vector<Contender> list(bool balances) const {
    std::vector<Contender> all;
    auto const add = [&](std::string const& family, std::string const& schedule,
                         std::string const& absent, Loops const* loops) {
      all.push_back({family + "/" + schedule, schedule, absent, loops});
    };
    auto const add_openmp = [&](std::string const& schedule) {
      add(name_of(Family::openmp), schedule, why_absent(Family::openmp), &openmp_);
      add(PeerProcess::family(), schedule, PeerProcess::why_absent(), nullptr);
    };
    add_openmp("static");
    if (balances) add_openmp("guided");
    if (balances) add_openmp("dynamic");
    for (char const* s : {"static", "auto"})
      add(name_of(Family::tbb), s, why_absent(Family::tbb), &tbb_);
    for (char const* s : {"static", "local", "adaptive", "guided", "dynamic"})
      if (balances || s != std::string("dynamic")) add("nigh", s, "", &nigh_);
    return all;
  }
  Loops const& first_touch() const noexcept { return nigh_; }
  PeerProcess& peer() const noexcept { return peer_; }

 private:
  Loops nigh_, openmp_, tbb_;
  PeerProcess& peer_;
};

// Threads of the variant before are asleep by then, and the loop is not the first after a pause.
template <class Time>
double settled(Time const& time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  time();
  return time();
}

template <class Time>
void take_samples(std::vector<Contender> const& list, std::vector<Result>& results, int repetitions,
                  Time const& time) {
  Progress progress(repetitions * static_cast<int>(list.size()));
  for (int n = 0; n < repetitions; ++n)
    for (std::size_t at = 0; at < list.size(); ++at) {
      progress.step(list[at].name);
      if (list[at].absent.empty()) results[at].samples.push_back(time(list[at]));
    }
}

std::vector<Result> start(std::vector<Contender> const& list, std::string const& bench,
                          std::string const& metric, std::string const& unit) {
  std::vector<Result> results;
  for (Contender const& c : list) {
    Result r;
    r.bench = bench;
    r.variant = c.name;
    r.metric = metric;
    r.unit = unit;
    r.absent = c.absent;
    if (c.absent.empty()) r.verified = true;  // a wrong element throws
    results.push_back(std::move(r));
  }
  return results;
}

// GB/s as STREAM counts: 24 bytes an element.
std::vector<Result> time_triad(LoopsOptions const& o, Contenders const& contenders) {
  auto const list = contenders.list(false);
  auto results = start(list, "loops/triad", "rate", "GB/s");
  TriadArrays arrays(o.elements, contenders.first_touch());
  auto const request = [&](Contender const& c) {
    return "triad " + c.schedule + ' ' + std::to_string(o.elements);
  };
  take_samples(list, results, o.repetitions, [&](Contender const& c) {
    double const seconds = settled([&] {
      return c.loops != nullptr ? arrays.seconds(*c.loops, c.schedule)
                                : contenders.peer().loop(request(c));
    });
    return 24e-9 * static_cast<double>(o.elements) / seconds;
  });
  for (Result& r : results) r.params = {{"elements", static_cast<long>(o.elements)}};
  return results;
}

std::vector<Result> time_triangle(LoopsOptions const& o, Contenders const& contenders,
                                  bool falling) {
  auto const list = contenders.list(true);
  auto results = start(list, "loops/triangle", "time", "ms");
  Triangle triangle(o.rows, falling);
  take_samples(list, results, o.repetitions, [&](Contender const& c) {
    return 1e3 * settled([&] {
             return c.loops != nullptr
                        ? triangle.seconds(*c.loops, c.schedule)
                        : contenders.peer().loop("triangle " + c.schedule + ' ' +
                                                 std::to_string(o.rows) + (falling ? " 1" : " 0"));
           });
  });
  for (Result& r : results)
    r.params = {{"rows", static_cast<long>(o.rows)}, {"longest", falling ? "first" : "last"}};
  return results;
}

Result time_idle(bool quick) {
  Result r;
  r.bench = "loops/idle";
  r.variant = "nigh";
  r.metric = "cpu_used_when_idle";
  r.unit = "percent of one cpu";
  for (int n = 0; n < (quick ? 1 : 3); ++n)
    r.samples.push_back(100 * cpus_used_while_asleep(quick ? 0.1 : 1, 10));
  return r;
}

}  // namespace

std::vector<Result> compare_loops(LoopsOptions const& o) {
  std::vector<Result> results;
  auto const keep = [&results](std::vector<Result> more) {
    for (Result& r : more) results.push_back(std::move(r));
  };
  PeerProcess peer(o.cpus);
  {
    nigh::runtime_options options;
    options.cpus = {o.cpus[0], o.cpus[1]};
    nigh::configure_default_runtime(options);
    nigh::runtime runtime(options);
    runtime.run([] { loop_of_two([] {}); });
    results.push_back(time_idle(o.quick));
    keep(time_ways("loops/rendezvous", rendezvous_ways(o, runtime, peer), o.quick));
  }
  pin_this_thread(o.cpus[0]);  // where each runtime expects the thread that calls it
  Contenders const contenders(o, peer);
  keep(time_triad(o, contenders));
  keep(time_triangle(o, contenders, false));
  keep(time_triangle(o, contenders, true));
  return results;
}

}  // namespace bench
