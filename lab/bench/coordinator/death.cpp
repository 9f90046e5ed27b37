// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bench/coordinator/programs.hpp"
#include "bench/coordinator/studies.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "coordinator/client/lease_client.hpp"
#include "platform/progress.hpp"
#include "platform/service.hpp"

namespace bench {

namespace {

using nigh::coordinator::ClientConnection;
using nigh::coordinator::ConnectionOptions;
using nigh::coordinator::Demand;
using nigh::coordinator::LeaseClient;
using Clock = std::chrono::steady_clock;
using Times = std::pair<Clock::time_point, Clock::time_point>;

// A process that does `body` until it is killed, at the latest with this one.
class Child {
 public:
  explicit Child(std::function<void()> const& body) : pid_(fork()) {
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    _exit(1);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(Child&&) = delete;
  // When it was killed, and when it had ended.
  Times end() const noexcept {
    auto const killed = Clock::now();
    kill(pid_, SIGKILL);
    siginfo_t how;
    waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOWAIT);
    return {killed, Clock::now()};
  }

 private:
  pid_t pid_;
};

[[noreturn]] void be_busy() {
  std::uint64_t volatile turns = 0;
  for (;;) static_cast<void>(turns);
}

// Takes all cpus, says how many it has got on `ready`, and keeps them.
void hold_all(ConnectionOptions const& options, Demand all, long memory_mib, int ready) {
  auto const bytes = static_cast<std::size_t>(memory_mib) << 20U;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  std::memset(memory, 1, bytes);
  ClientConnection program;
  if (!program.join(options)) return;
  LeaseClient client(program);
  // The other program has just had cpus, and its part is kept for it for a while.
  std::uint32_t size = 0;
  for (int tries = 0; tries < 100 && size != all.maximum; ++tries) {
    if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    client.give_back();
    size = client.enter(1, all).size;
    if (size != all.maximum) client.leave(0);
  }
  if (write(ready, &size, sizeof size) == sizeof size && size == all.maximum) be_busy();
}

class Scene {
 public:
  Scene(DeathOptions const& options, nigh::topology const& machine)
      : options_(options), daemon_("clustered-adjusting") {
    for (int const cpu : machine.cpus()) cpus_.add(cpu);
    auto const count = static_cast<std::uint32_t>(machine.cpus().size());
    all_ = {count, count};
    nigh::platform::wake_soon();  // what is measured is not how late this is woken
    if (!program_.join(options_of("waits"))) throw std::runtime_error("nighd does not answer");
    master_.emplace(program_);
  }
  Scene(Scene&&) = delete;

  // Microseconds until its cpus are ours, and until the process has ended.
  std::pair<double, double> kill_one() {
    int ready[2];
    if (pipe(ready) != 0) throw std::runtime_error("no pipe");
    Child const victim([&] { hold_all(options_of("dies"), all_, options_.memory_mib, ready[1]); });
    close(ready[1]);
    std::uint32_t size = 0;
    auto const got = read(ready[0], &size, sizeof size);
    close(ready[0]);
    if (got != sizeof size) throw std::runtime_error("a program did not reach nighd");
    if (size != all_.maximum)
      throw std::runtime_error(
          fmt::format("a program was granted {} of {} cpus", size, all_.maximum));
    Times end;
    std::thread killer([&] {
      nigh::platform::wake_soon();
      std::this_thread::sleep_for(std::chrono::milliseconds(60));  // we wait for its cpus by then
      end = victim.end();
    });
    auto const team = master_->enter(2, all_);
    auto const granted = Clock::now();
    killer.join();
    if (team.size == 0) throw std::runtime_error("nighd is gone");
    master_->leave(0);
    auto const us = [&](Clock::time_point then) {
      return std::chrono::duration<double, std::micro>(then - end.first).count();
    };
    return {us(granted), us(end.second)};
  }

 private:
  ConnectionOptions options_of(char const* name) const {
    return {.socket = daemon_.socket().c_str(), .name = name, .allowed = cpus_};
  }

  DeathOptions options_;
  Daemon daemon_;
  nigh::coordinator::CpuSet cpus_{};
  Demand all_{};
  ClientConnection program_;
  std::optional<LeaseClient> master_;
};

}  // namespace

DeathStudy study_death(DeathOptions const& o, nigh::topology const& machine) {
  DeathStudy study{o, {}};
  std::string const absent = Daemon::why_absent();
  auto const busy = o.busy_per_cpu * static_cast<long>(machine.cpus().size());
  for (long const others : {0L, busy})
    for (char const* const metric : {"cpus_back_after", "process_ended_after"}) {
      Result r;
      r.bench = "coordinator/death";
      r.variant = others == 0 ? "idle host" : "busy host";
      r.params = {{"busy_threads", others}, {"memory_mib", o.memory_mib}};
      r.metric = metric;
      r.unit = "us";
      r.absent = absent;
      study.results.push_back(r);
    }
  if (!absent.empty()) return study;
  nigh::platform::Progress progress(static_cast<int>(o.repetitions * 2));
  for (long repetition = 0; repetition < o.repetitions; ++repetition)
    for (std::size_t i = 0; i < study.results.size(); i += 2) {
      Result& back = study.results[i];
      progress.step(back.variant);
      std::vector<std::unique_ptr<Child>> others;
      Scene scene(o, machine);
      for (long n = 0; n < std::get<long>(back.params.at("busy_threads")); ++n)
        others.push_back(std::make_unique<Child>(be_busy));
      for (long k = 0; k < o.kills; ++k) {
        auto const [granted, ended] = scene.kill_one();
        back.samples.push_back(granted);
        study.results[i + 1].samples.push_back(ended);
      }
    }
  return study;
}

std::string describe(DeathStudy const& study) {
  if (std::string const& absent = study.results[0].absent; !absent.empty())
    return "not measured: " + absent + '\n';
  Table t;
  t.row({"after kill -9", "", "kills", "us, median", "p99", "max"});
  t.rule();
  for (Result const& r : study.results) {
    auto const s = statistics_of(r.samples);
    bool const is_back = r.metric == "cpus_back_after";
    auto const busy = std::get<long>(r.params.at("busy_threads"));
    t.row({is_back ? fmt::format("{}: {} threads of others", r.variant, busy) : "",
           is_back ? "its cpus are another's" : "the process has ended",
           std::to_string(r.samples.size()), fmt::format("{:.0f}", s.median),
           fmt::format("{:.0f}", quantile(r.samples, 0.99)), fmt::format("{:.0f}", s.max)});
  }
  return t.text();
}

}  // namespace bench
