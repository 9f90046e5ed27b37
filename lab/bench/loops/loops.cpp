// SPDX-License-Identifier: Apache-2.0
// nigh bench loops: loops of nigh beside those of OpenMP, oneTBB and ForkUnion: how soon the second
// thread takes part, how fast a loop runs that waits for memory, and one whose rows differ in
// length.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_loop.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/loops/kernels.hpp"
#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "bench/probes.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/tasks/rendezvous.hpp"
#include "bench/tasks/solver.hpp"
#include "workloads/problem.hpp"

#if defined(NIGH_WITH_FORK_UNION)
#include <fork_union.hpp>
#endif

namespace bench {

namespace {

// ForkUnion is here where NIGH_FORK_UNION named the folder of its header when this was built.
#if defined(NIGH_WITH_FORK_UNION)
std::string why_no_fork_union() { return {}; }

// Its threads spin from the first loop to the pool's end, so the pool lives for one measurement.
std::vector<double> time_fork_union_rendezvous(std::vector<int> const& cpus, double pause_us,
                                               int count) {
  auto const pool = std::make_unique<ashvardanian::fork_union::basic_pool_t>();
  if (!pool->try_spawn(2)) throw std::runtime_error("ForkUnion started no threads");
  pool->for_threads([&cpus](std::size_t thread) noexcept { pin_this_thread(cpus[thread]); });
  return time_rendezvous(
      [&pool](std::function<void()> const& body) {
        pool->for_n(std::size_t{2}, [&body](std::size_t) noexcept { body(); });
      },
      pause_us, count);
}
#else
std::string why_no_fork_union() { return "its header was not found when this was built"; }
std::vector<double> time_fork_union_rendezvous(std::vector<int> const&, double, int) {
  throw std::runtime_error(why_no_fork_union());
}
#endif

struct LoopsFlags : Flags {
  long threads = 2, elements = 20'000'000, rows = 4000;
};

struct LoopsOptions {
  explicit LoopsOptions(nigh::topology here) : machine(std::move(here)) {}

  nigh::topology machine;
  std::vector<int> cpus;  // as many as threads
  int repetitions = 0;
  std::size_t elements = 0;  // of each of the triad's arrays
  std::size_t rows = 0;      // of the triangle
  bool quick = false;
};

LoopsOptions check(LoopsFlags const& f) {
  LoopsOptions o(live_machine());
  o.quick = f.quick;
  in_range("--threads", f.threads, 2, 1'000'000);
  o.cpus = cpus_for(f.threads, o.machine);
  o.repetitions =
      static_cast<int>(number_or("--repetitions", f.repetitions, f.quick ? 2 : 25, 1'000'000));
  o.elements = static_cast<std::size_t>(in_range("--elements", f.elements, 1, 1L << 33));
  o.rows = static_cast<std::size_t>(in_range("--rows", f.rows, 1, 1'000'000));
  if (f.quick) {
    o.elements = std::min<std::size_t>(o.elements, 100'000);
    o.rows = std::min<std::size_t>(o.rows, 300);
  }
  return o;
}

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
// one in turn. The time beyond that of a team's loop is the cost of the change.
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
                    allow_this_thread(o.cpus);  // nigh does not pin external threads
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

// A runtime that runs a kernel with a schedule, in this process or in the other one.
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

// One result of each contender, whose number time() gives.
template <class Time>
std::vector<Result> time_in_turns(std::vector<Contender> const& list, int repetitions,
                                  Result const& like, Time const& time) {
  std::vector<Result> results;
  for (Contender const& c : list) {
    Result& r = results.emplace_back(like);
    r.variant = c.name;
    r.absent = c.absent;
    if (c.absent.empty()) r.verified = true;  // a wrong element throws
  }
  take_turns(
      repetitions, results, [](Result const& r) { return r.variant; },
      [&](Result& r) {
        r.samples.push_back(time(list[static_cast<std::size_t>(&r - results.data())]));
      });
  return results;
}

// GB/s as STREAM counts: 24 bytes an element.
std::vector<Result> time_triad(LoopsOptions const& o, Contenders const& contenders) {
  Result like;
  like.bench = "loops/triad";
  like.params = {{"elements", static_cast<long>(o.elements)}};
  like.metric = "rate";
  like.unit = "GB/s";
  TriadArrays arrays(o.elements, contenders.first_touch());
  return time_in_turns(contenders.list(false), o.repetitions, like, [&](Contender const& c) {
    double const seconds = settled([&] {
      return c.loops != nullptr
                 ? arrays.seconds(*c.loops, c.schedule)
                 : contenders.peer().loop("triad " + c.schedule + ' ' + std::to_string(o.elements));
    });
    return 24e-9 * static_cast<double>(o.elements) / seconds;
  });
}

std::vector<Result> time_triangle(LoopsOptions const& o, Contenders const& contenders,
                                  bool falling) {
  Result like;
  like.bench = "loops/triangle";
  like.params = {{"rows", static_cast<long>(o.rows)}, {"longest", falling ? "first" : "last"}};
  like.metric = "time";
  like.unit = "ms";
  Triangle triangle(o.rows, falling);
  return time_in_turns(contenders.list(true), o.repetitions, like, [&](Contender const& c) {
    return 1e3 * settled([&] {
             return c.loops != nullptr
                        ? triangle.seconds(*c.loops, c.schedule)
                        : contenders.peer().loop("triangle " + c.schedule + ' ' +
                                                 std::to_string(o.rows) + (falling ? " 1" : " 0"));
           });
  });
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

template <class Wanted>
std::string table_of(std::vector<Result> const& results, std::string const& unit,
                     char const* format, Wanted const& wanted) {
  Table t;
  t.row({"", unit + ", median", "min", "max"});
  t.rule();
  for (Result const& r : results) {
    if (!wanted(r)) continue;
    Statistics const s = statistics_of(r.samples);
    auto const number = [&](double x) {
      return r.absent.empty() ? fmt::format(fmt::runtime(format), x) : std::string("absent");
    };
    t.row({r.variant, number(s.median), number(s.min), number(s.max)});
  }
  return t.text();
}

std::string describe_loops(std::vector<Result> const& results, LoopsOptions const& o) {
  std::vector<Result> meetings;
  std::string text;
  for (Result const& r : results) {
    if (r.bench == "loops/rendezvous") meetings.push_back(r);
    if (r.bench == "loops/idle")
      text += fmt::format("nigh's workers from 10 ms after their last loop: {:.2f}% of a cpu\n\n",
                          statistics_of(r.samples).median);
  }
  text +=
      "A loop of two iterations that wait for each other, us: median (min); the caller is\n"
      "busy in the pause before, or sleeps when that is longer than 2 ms\n\n" +
      rendezvous_table(meetings) + '\n';
  text += fmt::format("Triad of {} doubles on {} threads\n\n", o.elements, o.cpus.size()) +
          table_of(results, "GB/s", "{:.2f}",
                   [](Result const& r) { return r.bench == "loops/triad"; }) +
          '\n';
  for (std::string const longest : {"last", "first"})
    text += fmt::format("Triangle of {} rows, the longest {}\n\n", o.rows, longest) +
            table_of(results, "ms", "{:.3f}",
                     [&](Result const& r) {
                       return r.bench == "loops/triangle" &&
                              std::get<std::string>(r.params.at("longest")) == longest;
                     }) +
            '\n';
  for (Result const& r : results)
    if (!r.absent.empty() && r.params.count("pause_us") > 0 &&
        std::get<double>(r.params.at("pause_us")) == 0)
      text += r.variant + ": " + r.absent + '\n';
  return text;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  LoopsFlags f;
  std::optional<LoopsOptions> o;
  return run_benchmark(
      {.name = "loops",
       .measures = "parallel loops: how soon they begin, how fast they run, how even they are",
       .wrong = "a loop's result is wrong",
       .samples = "triad and triangle; default 25",
       .quick = "small arrays and few samples",
       .options =
           [&](CLI::App& app) {
             app.add_option("--threads", f.threads, "threads of each runtime; default 2");
             app.add_option("--elements", f.elements,
                            "of each of the triad's arrays; default 20000000");
             app.add_option("--rows", f.rows, "of the triangle; default 4000");
           },
       .plan = [&]() -> Plan {
         o = check(f);
         auto const measure = [&]() -> Findings {
           auto const results = compare_loops(*o);
           return {describe_loops(results, *o), results};
         };
         return {&o->machine, {measure}};
       }},
      f, argc, argv);
}
