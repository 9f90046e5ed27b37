// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/steal_latency.hpp"

#include <mpi.h>

#include <chrono>

#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "bench/statistics.hpp"
#include "cluster/engine.hpp"
#include "cluster/mpi/network.hpp"

namespace bench {

namespace {

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

}  // namespace

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

}  // namespace bench
