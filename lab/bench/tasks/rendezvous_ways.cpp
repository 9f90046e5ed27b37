// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bench/pin.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/tasks/rendezvous.hpp"
#include "platform/progress.hpp"
#include "workloads/team.hpp"

#if defined(NIGH_WITH_TBB)
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>
#endif

namespace bench {

namespace {

// A thread that sleeps on a condition variable until it is told what to call.
class Sleeper {
 public:
  explicit Sleeper(int cpu) : thread_([this, cpu] { serve(cpu); }) {}
  ~Sleeper() {
    tell(nullptr, true);
    thread_.join();
  }
  Sleeper(Sleeper&&) = delete;
  Sleeper& operator=(Sleeper&&) = delete;

  void call(std::function<void()> const& body) { tell(&body, false); }

  void await() {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [this] { return body_ == nullptr; });
  }

 private:
  void tell(std::function<void()> const* body, bool leave) {
    std::lock_guard const lock(mutex_);
    body_ = body;
    leave_ = leave;
    told_.notify_all();
  }

  void serve(int cpu) {
    pin_this_thread(cpu);
    std::unique_lock lock(mutex_);
    for (;;) {
      told_.wait(lock, [this] { return leave_ || body_ != nullptr; });
      if (leave_) return;
      lock.unlock();
      (*body_)();
      lock.lock();
      body_ = nullptr;
      told_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable told_;
  std::function<void()> const* body_ = nullptr;
  bool leave_ = false;
  std::thread thread_;
};

}  // namespace

std::vector<double> time_sleeper_rendezvous(std::vector<int> const& cpus, double pause_us,
                                            int count) {
  pin_this_thread(cpus[0]);
  Sleeper other(cpus[1]);
  auto const fork = [&other](std::function<void()> const& body) {
    other.call(body);
    body();
    other.await();
  };
  return time_rendezvous(fork, pause_us, count);
}

#if defined(NIGH_WITH_TBB)

namespace {

std::vector<double> time_in_team(std::vector<int> const& cpus, double pause_us, int count,
                                 ForkTwo const& fork) {
  workloads::TeamOptions options;
  options.cpus = cpus;
  options.pin = pin_this_thread;
  static auto const team = make_tbb_team(options);
  std::vector<double> samples;
  team->run([&] { samples = time_rendezvous(fork, pause_us, count); });
  return samples;
}

}  // namespace

std::vector<double> time_tbb_rendezvous(std::vector<int> const& cpus, double pause_us, int count) {
  return time_in_team(cpus, pause_us, count, [](std::function<void()> const& body) {
    oneapi::tbb::parallel_invoke(body, body);
  });
}

std::vector<double> time_tbb_loop_rendezvous(std::vector<int> const& cpus, double pause_us,
                                             int count) {
  return time_in_team(cpus, pause_us, count, [](std::function<void()> const& body) {
    oneapi::tbb::parallel_for(0, 2, [&body](int) { body(); });
  });
}

#endif

namespace {

std::string pause_text(double us) {
  if (us == 0) return "hot";
  return us < 1000 ? fmt::format("{:g} us", us) : fmt::format("{:g} ms", us / 1000);
}

}  // namespace

std::vector<Result> time_ways(std::string const& bench, std::vector<Way> const& list, bool quick) {
  std::vector<Result> results;
  for (Way const& way : list)
    for (double const pause : rendezvous_pauses_us) {
      Result r;
      r.bench = bench;
      r.variant = way.name;
      r.metric = "rendezvous";
      r.unit = "ns";
      r.params = {{"pause_us", pause}};
      r.absent = way.absent;
      results.push_back(std::move(r));
    }
  int const rounds = quick ? 1 : 5;
  nigh::platform::Progress progress(rounds * static_cast<int>(results.size()));
  for (int round = 0; round < rounds; ++round) {
    auto result = results.begin();
    for (Way const& way : list)
      for (double const pause : rendezvous_pauses_us) {
        progress.step(way.name);
        Result& r = *result++;
        if (!r.absent.empty()) continue;
        int const count = quick ? 3 : pause > 2000 ? 10 : 100;
        try {
          for (double const ns : way.time(pause, count)) r.samples.push_back(ns);
        } catch (std::runtime_error const& e) {
          r.absent = e.what();
        }
      }
  }
  return results;
}

std::string rendezvous_table(std::vector<Result> const& results) {
  Table t;
  std::vector<std::string> head{"pause"}, row;
  for (double const pause : rendezvous_pauses_us) head.push_back(pause_text(pause));
  t.row(head);
  t.rule();
  for (Result const& r : results) {
    if (r.metric != "rendezvous") continue;
    if (row.empty()) row.push_back(r.variant);
    Statistics const s = statistics_of(r.samples);
    row.push_back(r.absent.empty() ? fmt::format("{:.2f} ({:.2f})", s.median / 1e3, s.min / 1e3)
                                   : "absent");
    if (row.size() == head.size()) t.row(std::exchange(row, {}));
  }
  return t.text();
}

}  // namespace bench
