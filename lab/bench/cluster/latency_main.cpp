// SPDX-License-Identifier: Apache-2.0
// cluster-latency: what a steal between two ranks takes, as a program for mpirun. A line on
// standard output for each: NAME us SAMPLE..., and NAME late SAMPLE..., in us, too, for how long
// after the victim's task that was.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "bench/cluster/busy_victim.hpp"
#include "bench/cluster/mpi_processes.hpp"
#include "bench/cluster/steal_latency.hpp"
#include "bench/cluster/window_steal.hpp"
#include "bench/command.hpp"
#include "bench/options.hpp"

namespace {

using namespace bench;

struct Flags {
  long rounds = 11, steals = 1000, answers = 500;
  std::string tasks_us = "10,100,1000";

  void declare(CLI::App& app) {
    app.add_option("--rounds", rounds, "samples of a steal and of a ping-pong; default 11");
    app.add_option("--steals", steals, "in each, whose median it is; default 1000");
    app.add_option("--tasks", tasks_us, "lengths of a busy rank's tasks; default 10,100,1000 us");
    app.add_option("--answers", answers, "of a busy rank; default 500");
  }
};

constexpr int tasks_a_steal = 8;

void run(Flags const& f, MpiProcesses& processes) {
  auto const rounds = static_cast<int>(in_range("--rounds", f.rounds, 1, 10'000));
  auto const steals = static_cast<int>(in_range("--steals", f.steals, 1, 1'000'000));
  auto const answers = static_cast<int>(in_range("--answers", f.answers, 1, 1'000'000));
  auto const lengths = numbers("--tasks", f.tasks_us, 1'000'000);
  if (processes.size() != 2) throw UsageError("it takes two ranks");
  processes.speak_again();
  auto const tell = [&](std::string const& name, std::vector<double> const& us) {
    if (processes.rank() == 0) fmt::print("{} us {:.3f}\n", name, fmt::join(us, " "));
  };
  auto const tell_delays = [&](char const* what, int task_us, Delays const& d) {
    auto const name = fmt::format("{}/busy-{}", what, task_us);
    tell(name, d.us);
    if (processes.rank() == 0) fmt::print("{} late {:.3f}\n", name, fmt::join(d.late, " "));
  };
  // Sessions bind their workers themselves, and these threads are bound after that.
  for (int const us : lengths) {
    auto const b = busy_victim(us, answers);
    tell_delays("request", us, b.noticed);
    tell_delays("answer", us, b.answered);
  }
  for (int const us : lengths) tell_delays("plain", us, plain_victim(us, answers));
  auto const latency = steal_latency(rounds, steals, tasks_a_steal);
  tell("ping-pong/messages", latency.ping_pong);
  tell("steal/messages", latency.steal);
  tell("steal/window", window_steals(rounds, steals, tasks_a_steal));
}

}  // namespace

int main(int argc, char** argv) {
  MpiProcesses processes(argc, argv);
  Flags flags;
  return run_program(
      "cluster-latency", "What a steal between two ranks takes", argc, argv,
      [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags, processes); });
}
