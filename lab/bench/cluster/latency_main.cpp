// SPDX-License-Identifier: Apache-2.0
// cluster-latency: what a steal between two ranks takes, as a program for mpirun. A line on
// standard output for each: NAME us SAMPLE..., and NAME late SAMPLE..., in us, too, for how long
// after the victim's task that was.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "bench/cluster/busy_victim.hpp"
#include "bench/cluster/mpi_processes.hpp"
#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "bench/statistics.hpp"
#include "cluster/engine.hpp"
#include "cluster/mpi/network.hpp"
#include "cluster/shared_segment.hpp"

namespace bench {

namespace {

// A steal by messages, beside the least it could cost: two messages of the same sizes by MPI alone.

// Medians of rounds of each, in us, one and the other in turn; on rank 0 of two. A steal brings so
// many tasks of 64 bytes. Collective; the threads that call are on cpus of their own from then on.
struct StealLatency {
  std::vector<double> ping_pong, steal;
};

using namespace nigh::cluster;
using Clock = std::chrono::steady_clock;

constexpr std::size_t task_bytes = 64;
constexpr std::size_t input_bytes = task_bytes - sizeof(TaskHead);
constexpr int thief = 0, victim = 1;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// A rank whose tasks are there when they are asked for, or that wants some.
class Side final : public Engine::Tasks {
 public:
  explicit Side(int tasks) : tasks_(tasks) {}

  bool wants = false;
  int given = 0, taken = 0;

  bool is_hungry() override { return wants; }
  bool is_busy() override { return !wants; }
  std::uint16_t give(Writer& to, Chunk const&) override {
    for (int i = 0; i < tasks_; ++i) {
      to.put(TaskHead{0, victim, static_cast<Token>(i), input_bytes});
      to.room(input_bytes);
    }
    ++given;
    return static_cast<std::uint16_t>(tasks_);
  }
  void take(Task) override { wants = ++taken % tasks_ != 0; }
  void deliver(Token, detail::outcome const&) override {}
  TaskCounts free_tasks() override { return {}; }

 private:
  int const tasks_;
};

void step(Engine& engine, Transport& network) {
  auto const arrived = network.receive();
  if (arrived.from >= 0) engine.receive(arrived.from, arrived.message, 0);
}

std::vector<double> steals(Engine& engine, Side& side, Transport& network, int count) {
  std::vector<double> us;
  if (network.rank() == victim)
    for (int const last = side.given + count; side.given < last;) step(engine, network);
  while (network.rank() == thief && static_cast<int>(us.size()) < count) {
    auto const start = Clock::now();
    side.wants = true;
    for (engine.tick(0); side.wants;) step(engine, network);
    us.push_back(us_since(start));
  }
  return us;
}

std::vector<double> ping_pongs(int rank, std::size_t request, std::size_t reply, int count) {
  std::vector<std::byte> asked(request), answered(reply);
  auto const send = [&](auto& bytes, int to) {
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, 0, MPI_COMM_WORLD);
  };
  auto const receive = [&](auto& bytes, int from) {
    MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  };
  std::vector<double> us;
  for (int i = 0; i < count; ++i) {
    auto const start = Clock::now();
    if (rank == thief) send(asked, victim), receive(answered, victim);
    if (rank == victim) receive(asked, thief), send(answered, thief);
    us.push_back(us_since(start));
  }
  return us;
}

StealLatency steal_latency(int rounds, int steals_a_round, int tasks) {
  mpi::Network network(false, false);
  auto const cpus = live_machine().order(nigh::cpu_order::compact, nigh::level::domain);
  pin_this_thread(cpus[static_cast<std::size_t>(network.rank()) % cpus.size()]);
  Side side(tasks);
  std::vector<nigh::policy::Reach> const both(2);
  Engine engine(nigh::policy::victim_plan(network.rank(), both), {}, side, network);
  engine.begin();
  // A message of the network has a byte more, which says whether it is whole.
  auto const request = sizeof(Header) + 1;
  auto const reply = sizeof(Header) + static_cast<std::size_t>(tasks) * task_bytes + 1;
  StealLatency all;
  for (int round = -1; round < rounds; ++round) {  // the first one warms up
    double const floor = median_of(ping_pongs(network.rank(), request, reply, steals_a_round));
    double const steal = median_of(steals(engine, side, network, steals_a_round));
    if (round < 0) continue;
    all.ping_pong.push_back(floor);
    all.steal.push_back(steal);
  }
  network.finish();
  return all;
}

// A steal between two ranks of one host, through the memory that they share: one visit to a queue
// that the other rank has just filled. It leaves out the time before, until the owner notices that
// tasks are wanted, and the time after, when they run.

constexpr std::uint32_t run_id = 1;

double us_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - start).count();
}

// (latency.H) The queue is as the other rank left it when it wrote its step: that is released, and
// acquired here.
void await(SharedSegment::Word const& word, std::uint32_t value) {
  while (word.load(nigh::sync::acquire) != value) {  // (latency.H)
  }
}

// The owner fills its queue when the thief is back, and says so.
void give(SharedSegment& mine, SharedSegment const& taker, int tasks, std::uint32_t& step,
          int count) {
  for (int i = 0; i < count; ++i) {
    await(taker.hungry, ++step);
    for (int t = 0; t < tasks; ++t) {
      Task task;
      task.token = step;
      task.input.resize(Descriptor::most_input);
      if (!mine.queue.put(Descriptor(task), run_id)) throw std::runtime_error("the queue is full");
    }
    mine.hungry.store(step, nigh::sync::release);  // (latency.H)
  }
}

std::vector<double> take(SharedSegment& mine, SharedSegment& owner, int tasks, std::uint32_t& step,
                         int count) {
  std::vector<double> us;
  auto const all = [](std::size_t seen) { return seen; };
  for (int i = 0; i < count; ++i) {
    mine.hungry.store(++step, nigh::sync::release);  // (latency.H)
    await(owner.hungry, step);
    std::array<Descriptor, most_from_queue> got;
    std::size_t n = 0;
    auto const start = Clock::now();
    auto const outcome =
        owner.queue.take(std::span(got).first(static_cast<std::size_t>(tasks)), n, run_id, all);
    auto const end = Clock::now();
    if (outcome != Take::taken || n != static_cast<std::size_t>(tasks) || got[n - 1].token != step)
      throw std::runtime_error("what was put on the queue is not what came");
    us.push_back(us_between(start, end));
  }
  return us;
}

// Where the launcher has not bound it to one.
int cpu_of(int rank) {
  auto const machine = live_machine();
  auto const& cpus = machine.cpus();
  return cpus[static_cast<std::size_t>(rank) % cpus.size()];
}

// Medians of rounds, in us, on rank 0 of two, with what reading the clock takes; empty where the
// two share no memory. Collective; the threads that call are on cpus of their own from then on.
std::vector<double> window_steals(int rounds, int steals_a_round, int tasks) {
  mpi::Network network(false, false);
  pin_this_thread(cpu_of(network.rank()));
  auto const segments = meet_segments(network);
  std::vector<double> medians;
  std::uint32_t step = 0;
  int const other = 1 - network.rank();
  for (int round = -1; segments.has(other) && round < rounds; ++round) {  // the first warms up
    auto &mine = segments.own(), &theirs = segments.at(other);
    if (network.rank() != thief) {
      give(mine, theirs, tasks, step, steals_a_round);
      continue;
    }
    auto const us = take(mine, theirs, tasks, step, steals_a_round);
    if (round >= 0) medians.push_back(median_of(us));
  }
  network.finish();
  return medians;
}

}  // namespace

}  // namespace bench

namespace {

using namespace bench;

struct Flags {
  long rounds = 11, steals = 1000, answers = 500;
  std::string tasks_us = "10,100,1000";

  void declare(CLI::App& app) {
    app.add_option("--rounds", rounds, "samples of a steal and of a ping-pong; default 11");
    app.add_option("--steals", steals, "in each, whose median it is; default 1000");
    app.add_option("--tasks", tasks_us, "lengths of a busy rank's tasks; default 10,100,1000 us")
        ->type_name("LIST");
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
