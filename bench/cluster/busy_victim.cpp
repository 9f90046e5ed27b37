// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/busy_victim.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <nigh/cluster.hpp>

#include "cluster/mpi/network.hpp"
#include "cluster/wire.hpp"
#include "platform/system_name.hpp"

namespace bench {

namespace {

using namespace nigh::cluster;
using Clock = std::chrono::steady_clock;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

// When requests for tasks went, came and were answered, on the way to MPI.
class Timed final : public Transport {
 public:
  struct Times {
    std::vector<std::int64_t> asked, answered;  // by this rank; to it, 0: with nothing
    std::vector<std::int64_t> noticed;          // by others
  };
  explicit Timed(Times& times) : times_(times), network_(false, false) {}

  int rank() const noexcept override { return network_.rank(); }
  int ranks() const noexcept override { return network_.ranks(); }
  std::string name() const override { return network_.name(); }
  bool is_funneled() const noexcept override { return network_.is_funneled(); }
  void send(int to, byte_view message) override {
    if (header(message).kind == Kind::steal) times_.asked.push_back(now_ns());
    network_.send(to, message);
  }
  Arrived receive() override {
    auto const arrived = network_.receive();
    if (arrived.from < 0) return arrived;
    auto const h = header(arrived.message);
    if (h.kind == Kind::steal) times_.noticed.push_back(now_ns());
    if (h.kind == Kind::tasks) times_.answered.push_back(h.count > 0 ? now_ns() : 0);
    return arrived;
  }
  std::vector<bytes> gather(byte_view mine) override { return network_.gather(mine); }
  void finish() override { network_.finish(); }

 private:
  static Header header(byte_view message) {
    Header h;
    std::memcpy(&h, message.data(), sizeof h);
    return h;
  }
  Times& times_;
  mpi::Network network_;
};

void compute(double us) {
  auto const end = Clock::now() + std::chrono::duration<double, std::micro>(us);
  while (Clock::now() < end) {
  }
}

// Few enough that all of them wait in the worker's stack.
constexpr int tasks_at_once = 128;
constexpr double least_us = 50'000;  // of work for each length

void many(double task_us) {
  task_scope scope;
  for (int i = 0; i < tasks_at_once; ++i) scope.spawn<compute>(task_us);
  scope.wait();
}

std::vector<std::int64_t> from_rank_1(std::vector<std::int64_t> mine) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned long long size = mine.size();
  MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, 1, MPI_COMM_WORLD);
  mine.resize(static_cast<std::size_t>(size));
  MPI_Bcast(mine.data(), static_cast<int>(mine.size()), MPI_INT64_T, 1, MPI_COMM_WORLD);
  return mine;
}

bool have_one_clock() {
  auto const mine = std::hash<std::string>()(nigh::platform::kernel_id());
  unsigned long long ours[2] = {mine, ~mine}, least[2];
  MPI_Allreduce(ours, least, 2, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
  return least[0] == ~least[1];
}

BusyVictim differences(Timed::Times const& mine, bool one_clock) {
  auto const asked = from_rank_1(mine.asked), answered = from_rank_1(mine.answered);
  BusyVictim b;
  for (std::size_t i = 0; i < std::min({asked.size(), answered.size(), mine.noticed.size()}); ++i) {
    auto const us = [&](std::int64_t end) { return static_cast<double>(end - asked[i]) * 1e-3; };
    if (answered[i] == 0) continue;
    b.answered.push_back(us(answered[i]));
    if (one_clock) b.noticed.push_back(us(mine.noticed[i]));
  }
  return b;
}

}  // namespace

BusyVictim busy_victim(double task_us, int answers) {
  Timed::Times times;
  {
    session_options options;
    options.workers.workers = 1;
    options.chunks = nigh::chunk_choice::one;
    session here(std::make_unique<Timed>(times), options);
    // The thief asks again after each task, so it gets about half of them.
    int const least = 2 * answers / tasks_at_once;
    auto const runs = std::max(least, static_cast<int>(least_us / (task_us * tasks_at_once)));
    for (int n = 0; n <= runs; ++n) run<many>(task_us);
  }
  return differences(times, have_one_clock());
}

}  // namespace bench
