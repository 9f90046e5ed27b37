// SPDX-License-Identifier: Apache-2.0
// The same requests under MPI alone on this machine, without nigh.

#include "bench/cluster/busy_victim.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nigh/cluster.hpp>

#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "cluster/mpi/network.hpp"
#include "cluster/wire.hpp"
#include "platform/system_name.hpp"

namespace bench {

namespace {

using namespace nigh::cluster;
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

TaskLog* tasks = nullptr;  // of the measurement that goes on

void compute(double us) { tasks->compute(us); }

// Few enough that all of them wait in the worker's stack.
constexpr int tasks_at_once = 128;
constexpr double least_us = 50'000;  // of work for each length

void many(double task_us) {
  task_scope scope;
  for (int i = 0; i < tasks_at_once; ++i) scope.spawn<compute>(task_us);
  scope.wait();
}

// The victim's times of its tasks are of use only to a rank with the same clock.
BusyVictim delays(Timed::Times const& mine, double task_us) {
  auto const asked = from_rank_1(mine.asked), answered = from_rank_1(mine.answered);
  bool const one_clock = have_one_clock();
  BusyVictim b;
  for (std::size_t i = 0; i < std::min({asked.size(), answered.size(), mine.noticed.size()}); ++i) {
    if (answered[i] == 0) continue;
    auto const end = one_clock ? tasks->end_of_task_at(asked[i])
                               : asked[i] + static_cast<std::int64_t>(task_us * 1e3);
    add(b.answered, asked[i], answered[i], end);
    if (one_clock) add(b.noticed, asked[i], mine.noticed[i], end);
  }
  return b;
}

}  // namespace

void TaskLog::compute(double us) {
  auto const start = now_ns();
  auto now = start;
  while (static_cast<double>(now - start) < us * 1e3) now = now_ns();
  begun_.push_back(start);
  ended_.push_back(now);
}

std::int64_t TaskLog::end_of_task_at(std::int64_t time) const {
  auto const next = std::upper_bound(begun_.begin(), begun_.end(), time) - begun_.begin();
  return next == 0 ? time : std::max(time, ended_[static_cast<std::size_t>(next) - 1]);
}

std::vector<std::int64_t> from_rank_1(std::vector<std::int64_t> mine) {
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

void add(Delays& to, std::int64_t asked, std::int64_t happened, std::int64_t end_of_task) {
  to.us.push_back(static_cast<double>(happened - asked) * 1e-3);
  to.late.push_back(static_cast<double>(happened - end_of_task) * 1e-3);
}

BusyVictim busy_victim(double task_us, int answers) {
  Timed::Times times;
  TaskLog log;
  tasks = &log;
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
  auto const found = delays(times, task_us);
  tasks = nullptr;
  return found;
}

namespace {

using Message = std::array<std::byte, 64>;

MPI_Request receive_from(int rank, Message& message) {
  MPI_Request request;
  MPI_Irecv(message.data(), sizeof message, MPI_BYTE, rank, 0, MPI_COMM_WORLD, &request);
  return request;
}

void send(int to, Message const& message) {
  MPI_Send(message.data(), sizeof message, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

bool has_come(MPI_Request& request) {
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

void answer(TaskLog& log, double task_us, int answers) {
  Message message{};
  for (int n = 0; n < answers; ++n) {
    auto request = receive_from(1, message);
    do log.compute(task_us);
    while (!has_come(request));
    send(1, message);
  }
}

struct Times {
  std::vector<std::int64_t> asked, answered;
};

// It runs a task for each answer, so requests come at any time of the victim's.
Times ask(TaskLog& log, double task_us, int answers) {
  Times times;
  Message message{};
  for (int n = 0; n < answers; ++n) {
    auto request = receive_from(0, message);
    times.asked.push_back(now_ns());
    send(0, message);
    while (!has_come(request)) continue;
    times.answered.push_back(now_ns());
    log.compute(task_us);
  }
  return times;
}

}  // namespace

Delays plain_victim(double task_us, int answers) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto const cpus = live_machine().order(nigh::cpu_order::compact, nigh::level::domain);
  pin_this_thread(cpus[static_cast<std::size_t>(rank) % cpus.size()]);
  TaskLog log;
  Times mine;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) answer(log, task_us, answers);
  if (rank == 1) mine = ask(log, task_us, answers);
  auto const asked = from_rank_1(mine.asked), answered = from_rank_1(mine.answered);
  bool const one_clock = have_one_clock();
  Delays all;
  for (std::size_t i = 0; i < asked.size(); ++i)
    add(all, asked[i], answered[i],
        one_clock ? log.end_of_task_at(asked[i])
                  : asked[i] + static_cast<std::int64_t>(task_us * 1e3));
  return all;
}

}  // namespace bench
