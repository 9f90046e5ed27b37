// SPDX-License-Identifier: Apache-2.0
#include "bench/coordinator/death.hpp"

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

#include "bench/coordinator/daemon.hpp"
#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "coordinator/client/master.hpp"
#include "platform/service.hpp"

namespace bench {

namespace {

using nigh::coordinator::Demand;
using nigh::coordinator::Master;
using nigh::coordinator::Program;
using nigh::coordinator::ProgramOptions;
using Clock = std::chrono::steady_clock;

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
  void end() const noexcept { kill(pid_, SIGKILL); }

 private:
  pid_t pid_;
};

[[noreturn]] void be_busy() {
  std::uint64_t volatile turns = 0;
  for (;;) static_cast<void>(turns);
}

// Takes all cpus, says so on `ready`, and keeps them.
void hold_all(ProgramOptions const& options, Demand all, long memory_mib, int ready) {
  auto const bytes = static_cast<std::size_t>(memory_mib) << 20U;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  std::memset(memory, 1, bytes);
  Program program;
  if (!program.join(options)) return;
  Master master(program);
  if (master.enter(1, all).size != all.maximum || write(ready, "", 1) != 1) return;
  be_busy();
}

class Scene {
 public:
  Scene(DeathOptions const& options, nigh::topology const& machine)
      : options_(options), daemon_("clustered-adjusting") {
    for (int const cpu : machine.cpus()) cpus_.add(cpu);
    auto const count = static_cast<std::uint32_t>(machine.cpus().size());
    all_ = {count, count};
    nigh::platform::wake_soon();  // what is measured is not how late this is woken
    if (pipe(ready_) != 0) throw std::runtime_error("no pipe");
    if (!program_.join(options_of("waits"))) throw std::runtime_error("nighd does not answer");
    master_.emplace(program_);
  }
  ~Scene() {
    master_.reset();
    close(ready_[0]);
    close(ready_[1]);
  }
  Scene(Scene&&) = delete;

  double kill_one() {
    Child const victim([&] { hold_all(options_of("dies"), all_, options_.memory_mib, ready_[1]); });
    char byte;
    if (read(ready_[0], &byte, 1) != 1) throw std::runtime_error("a program was not granted cpus");
    Clock::time_point killed;
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));  // we wait for its cpus by then
      killed = Clock::now();
      victim.end();
    });
    auto const team = master_->enter(2, all_);
    auto const granted = Clock::now();
    killer.join();
    if (team.size == 0) throw std::runtime_error("nighd is gone");
    master_->leave(0);
    return std::chrono::duration<double, std::micro>(granted - killed).count();
  }

 private:
  ProgramOptions options_of(char const* name) const {
    return {.socket = daemon_.socket().c_str(), .name = name, .allowed = cpus_};
  }

  DeathOptions options_;
  Daemon daemon_;
  nigh::coordinator::CpuSet cpus_{};
  Demand all_{};
  int ready_[2]{};
  Program program_;
  std::optional<Master> master_;
};

}  // namespace

DeathStudy study_death(DeathOptions const& o, nigh::topology const& machine) {
  DeathStudy study{o, {}};
  std::string const absent = Daemon::why_absent();
  auto const busy = o.busy_per_cpu * static_cast<long>(machine.cpus().size());
  for (long const others : {0L, busy}) {
    Result r;
    r.bench = "coordinator/death";
    r.variant = others == 0 ? "idle host" : "busy host";
    r.params = {{"busy_threads", others}, {"memory_mib", o.memory_mib}};
    r.metric = "cpus_back_after";
    r.unit = "us";
    r.absent = absent;
    study.results.push_back(r);
  }
  if (!absent.empty()) return study;
  Progress progress(static_cast<int>(o.repetitions * 2));
  for (long repetition = 0; repetition < o.repetitions; ++repetition)
    for (Result& r : study.results) {
      progress.step(r.variant);
      std::vector<std::unique_ptr<Child>> others;
      Scene scene(o, machine);
      for (long i = 0; i < std::get<long>(r.params.at("busy_threads")); ++i)
        others.push_back(std::make_unique<Child>(be_busy));
      for (long k = 0; k < o.kills; ++k) r.samples.push_back(scene.kill_one());
    }
  return study;
}

std::string describe(DeathStudy const& study) {
  if (std::string const& absent = study.results[0].absent; !absent.empty())
    return "not measured: " + absent + '\n';
  Table t;
  t.row({"from kill -9 to the next owner of its cpus", "kills", "us, median", "p99", "max"});
  for (Result const& r : study.results) {
    auto const s = statistics_of(r.samples);
    t.row({fmt::format("{}: {} busy threads of others", r.variant,
                       std::get<long>(r.params.at("busy_threads"))),
           std::to_string(r.samples.size()), fmt::format("{:.0f}", s.median),
           fmt::format("{:.0f}", quantile(r.samples, 0.99)), fmt::format("{:.0f}", s.max)});
  }
  return t.text();
}

}  // namespace bench
